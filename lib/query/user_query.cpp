#include "query/user_query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/try.h"
#include "query/tables.h"

namespace doctor {
namespace {

/// Tests whether a user's SQL may call the function: those of SQLite that compute and nothing else (lang_corefunc,
/// lang_aggfunc, lang_datefunc, lang_mathfunc, windowfunctions and json1 of its documentation), in any case of letters.
/// Other built-in functions depend on who built SQLite: Debian's fts3_tokenizer() takes an address.
bool is_allowed_function(std::string_view name) {
  constexpr std::string_view kAllowed =
      " -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh "
      "count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp "
      "first_value floor format glob group_concat hex if ifnull iif instr json json_array json_array_length "
      "json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch "
      "json_pretty json_quote json_remove json_replace json_set json_type json_valid julianday lag last_value lead "
      "length like likelihood likely ln log log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length "
      "percent_rank pi pow power printf quote radians random randomblob rank replace round row_number rtrim sign "
      "sin sinh sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total trim "
      "trunc typeof unhex unicode unixepoch unlikely upper zeroblob ";
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return has_word(kAllowed, lower);
}

const std::string kWhere = "SQL";
constexpr std::string_view kReadOnly = "only SELECT, WITH, VALUES and EXPLAIN are run";

/// What the statement would do, collected while it is prepared.
struct Watch {
  QueryNeeds needs;
  bool is_refused = false;
  std::string refused_function;
};

void note_read(Watch& watch, std::string_view table, std::string_view column, const char* view) {
  watch.needs.tables.emplace(table);
  // Where no column of the view is named, only those below it are reported.
  if (view != nullptr && find_query_table(view) != nullptr) watch.needs.tables.emplace(view);
  if (table == "events") {
    watch.needs.event_columns = watch.needs.event_columns || !column.empty();
    const bool is_token = column == "iterator_id" || column == "parent_id";
    const bool is_name = column == "name" || column == "long_name" || column == "op_type";
    watch.needs.event_tokens = watch.needs.event_tokens || is_token;
    watch.needs.event_names = watch.needs.event_names || is_token || is_name;
  }
  const bool is_through_view = view != nullptr && std::string_view(view) == "events";
  const bool is_argument = (table == "events" && column == "args") || (table == kEventRows && !is_through_view);
  watch.needs.arguments = watch.needs.arguments || is_argument;
}

int authorize(void* context, int action, const char* first, const char* second, const char* /*database*/,
              const char* view) {
  Watch& watch = *static_cast<Watch*>(context);
  const std::string_view object = first == nullptr ? "" : first;
  const std::string_view detail = second == nullptr ? "" : second;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (is_allowed_function(detail)) return SQLITE_OK;
      watch.refused_function = detail;
      break;
    case SQLITE_READ:
      note_read(watch, object, detail, view);
      return SQLITE_OK;
    default:
      break;
  }
  watch.is_refused = true;
  return SQLITE_DENY;
}

/// Watches a connection from construction to destruction.
class Guard {
 public:
  Guard(sqlite3* database, Watch& watch) : database_(database) { sqlite3_set_authorizer(database, authorize, &watch); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { sqlite3_set_authorizer(database_, nullptr, nullptr); }

 private:
  sqlite3* database_;
};

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> names;
  for (const QueryTable& table : query_tables()) names.push_back(table.name);
  return names;
}

/// Whether a word of the SQL is the name of a table.
bool names_table(std::string_view sql, std::string_view table) {
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = sql.find(table); at != std::string_view::npos; at = sql.find(table, at + 1)) {
    const std::size_t end = at + table.size();
    const bool is_word = (at == 0 || !is_of_name(sql[at - 1])) && (end == sql.size() || !is_of_name(sql[end]));
    if (is_word) return true;
  }
  return false;
}

/// "calls, segments": the tables that have a column of this name.
std::string tables_with(std::string_view column) {
  return joined(query_tables(), ", ", [&](const QueryTable& table) {
    const auto is_it = [&](const QueryColumn& other) { return other.name == column; };
    return std::ranges::any_of(table.columns, is_it) ? std::string(table.name) : std::string();
  });
}

/// Columns of the tables that the SQL names, else of all.
std::vector<std::string_view> column_names(std::string_view sql) {
  std::vector<std::string_view> of_named;
  std::vector<std::string_view> of_all;
  for (const QueryTable& table : query_tables()) {
    const bool is_named = names_table(sql, table.name);
    for (const QueryColumn& column : table.columns) {
      of_all.push_back(column.name);
      if (is_named) of_named.push_back(column.name);
    }
  }
  return of_named.empty() ? of_all : of_named;
}

/// What to do about a fault, from the words of SQLite.
std::string advice_for(std::string_view fault, std::string_view sql) {
  const auto name_after = [&](std::string_view words) -> std::optional<std::string_view> {
    if (!fault.starts_with(words)) return std::nullopt;
    const std::string_view name = fault.substr(words.size());
    return name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1);
  };
  if (const auto table = name_after("no such table: ")) return suggestion(*table, table_names());
  if (const auto column = name_after("no such column: ")) {
    if (const std::string tables = tables_with(*column); !tables.empty()) {
      return fmt::format("'{}' is a column of {}", *column, tables);
    }
    const std::string_view near = nearest(*column, column_names(sql));
    if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  }
  if (const auto column = name_after("ambiguous column name: ")) {
    return fmt::format("write the table, or its alias, before it: several of {} have a '{}'", tables_with(*column),
                       *column);
  }
  return "'tfdata-doctor query --schema' lists tables and columns";
}

Unexpected fault_in(sqlite3* database, const std::string& sql) {
  const std::string fault = sqlite3_errmsg(database);
  std::optional<std::uint64_t> offset;
  if (const int place = sqlite3_error_offset(database); place >= 0) offset = static_cast<std::uint64_t>(place);
  // SQLite does not say where a table is named.
  constexpr std::string_view kNoTable = "no such table: ";
  if (!offset && fault.starts_with(kNoTable)) {
    const std::size_t found = sql.find(fault.substr(kNoTable.size()));
    if (found != std::string::npos) offset = found;
  }
  return fail(fault, kWhere, advice_for(fault, sql), offset);
}

/// Whether nothing but blanks and comments follows: then there is no statement.
bool is_blank(sqlite3* database, const char* begin, const char* end) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database, begin, static_cast<int>(end - begin), &statement, nullptr);
  const Statement owned(statement);
  return code == SQLITE_OK && statement == nullptr;
}

/// Errors: what keeps a prepared statement from being run.
Result<void> check(sqlite3* database, const Statement& statement, const char* rest, const std::string& sql) {
  if (!statement) return fail("there is no statement", kWhere, "'tfdata-doctor query --examples' prints some");
  if (!is_blank(database, rest, sql.data() + sql.size())) {
    return fail("more than one statement", kWhere, "ask them one by one; with --db FILE traces are loaded once",
                static_cast<std::uint64_t>(rest - sql.data()));
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0 || sqlite3_column_count(statement.get()) == 0) {
    return fail(std::string(kReadOnly), kWhere);
  }
  if (sqlite3_bind_parameter_count(statement.get()) > 0) {
    return fail("a parameter has no value", kWhere, "write the value in place of '?' or ':name'");
  }
  return {};
}

constexpr std::size_t kMeasuredRows = 1'000;

/// Keeps the memory that a cell has from the row before.
void assign(Cell& cell, const QueryValue& value) {
  switch (value.type) {
    case ValueType::null:
      cell = std::monostate();
      return;
    case ValueType::integer:
      cell = value.integer;
      return;
    case ValueType::real:
      cell = value.real;
      return;
    case ValueType::blob:
      cell = Blob{std::string(value.bytes)};
      return;
    case ValueType::text:
      break;
  }
  if (auto* const text = std::get_if<std::string>(&cell)) {
    text->assign(value.bytes);
  } else {
    cell = std::string(value.bytes);
  }
}

}  // namespace

Result<UserQuery> UserQuery::prepare(const QueryDatabase& database, std::string sql) {
  if (sql.size() > std::numeric_limits<int>::max() || sql.find('\0') != std::string::npos) {
    return fail("is not SQL text", kWhere);
  }
  sqlite3* const handle = database.handle();
  // The file of a database may come from elsewhere; what is in it gets no more rights than a trace.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
  // On first use SQLite describes these to itself with a statement that would be refused.
  static_cast<void>(doctor::prepare(handle, "SELECT 1 FROM json_each('[]'), json_tree('[]')"));
  if (database.events() != nullptr) static_cast<void>(doctor::prepare(handle, "SELECT 1 FROM events"));
  Watch watch;
  const Guard guard(handle, watch);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  Statement statement(raw);
  if (!watch.refused_function.empty()) {
    return fail("the function " + watch.refused_function + "() is not one that may be called", kWhere,
                "those of SQLite's documentation that only compute may be");
  }
  if (watch.is_refused) return fail(std::string(kReadOnly), kWhere, "traces are never changed");
  if (code != SQLITE_OK) return fault_in(handle, sql);
  QueryNeeds needs = watch.needs;
  RETURN_IF_ERROR(check(handle, statement, rest, sql));
  return UserQuery(handle, std::move(needs), std::move(statement));
}

bool UserQuery::reads_only_events() const {
  if (needs_.arguments || needs_.tables.size() != 1 || !needs_.has("events")) return false;
  // A virtual table that is used twice would be scanned once per row: SQLite builds automatic indexes only for its own.
  const Statement plan = doctor::prepare(database_, std::string("EXPLAIN ") + sqlite3_sql(statement_.get()));
  int opened = 0;
  while (plan && sqlite3_step(plan.get()) == SQLITE_ROW) {
    constexpr int kOperation = 1;
    if (text_of(plan, kOperation) == "VOpen") ++opened;
  }
  return opened == 1;
}

std::vector<std::string> UserQuery::columns() const {
  std::vector<std::string> names;
  const int count = sqlite3_column_count(statement_.get());
  names.reserve(static_cast<std::size_t>(count));
  for (int column = 0; column < count; ++column) {
    const char* const name = sqlite3_column_name(statement_.get(), column);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

UserQuery::Watcher::~Watcher() {
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
}

void UserQuery::end_when(std::function<std::optional<Error>()> why) {
  constexpr int kOperations = 1'000'000;  // of SQLite's machine: some hundredths of a second
  watcher_ = std::make_unique<Watcher>(database_, std::move(why));
  const auto ask = [](void* context) {
    Watcher& watcher = *static_cast<Watcher*>(context);
    watcher.error = watcher.why();
    return watcher.error ? 1 : 0;
  };
  sqlite3_progress_handler(database_, kOperations, ask, watcher_.get());
}

Result<bool> UserQuery::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  if (code == SQLITE_INTERRUPT && watcher_ && watcher_->error) return Unexpected(*watcher_->error);
  return fail(sqlite3_errmsg(database_), kWhere);
}

QueryValue UserQuery::value(std::size_t column) const {
  sqlite3_stmt* const row = statement_.get();
  const auto index = static_cast<int>(column);
  QueryValue value;
  switch (sqlite3_column_type(row, index)) {
    case SQLITE_INTEGER:
      value.type = ValueType::integer;
      value.integer = sqlite3_column_int64(row, index);
      break;
    case SQLITE_FLOAT:
      value.type = ValueType::real;
      value.real = sqlite3_column_double(row, index);
      break;
    case SQLITE_TEXT:
      value.type = ValueType::text;
      value.bytes = text_of(statement_, index);
      break;
    case SQLITE_BLOB: {
      value.type = ValueType::blob;
      const void* const bytes = sqlite3_column_blob(row, index);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, index));
      if (bytes != nullptr) value.bytes = {static_cast<const char*>(bytes), size};
      break;
    }
    default:
      break;
  }
  return value;
}

Result<void> print_rows(UserQuery& query, TableFormat format, PageWidth width, OutputBuffer& output,
                        std::size_t most_rows) {
  const std::vector<std::string> names = query.columns();
  std::vector<Column> columns;
  columns.reserve(names.size());
  for (const std::string& name : names) columns.push_back({name, name, ColumnKind::any});
  const std::unique_ptr<TableSink> sink =
      make_table_sink(format, std::move(columns), {width, kMeasuredRows, "tfdata-doctor.query/1"}, output.text);
  std::vector<Cell> row(names.size());
  for (std::size_t count = 0; count < most_rows && !output.has_failed(); ++count) {
    ASSIGN_OR_RETURN(const bool has_row, query.next());
    if (!has_row) break;
    for (std::size_t column = 0; column < row.size(); ++column) assign(row[column], query.value(column));
    sink->add(row);
    output.end_piece();
  }
  sink->finish();
  return {};
}

}  // namespace doctor
