#include <sys/stat.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <system_error>

#include "commands.h"
#include "io/trace_inputs.h"
#include "process/progress.h"
#include "process/timings.h"
#include "query/load_inputs.h"
#include "query/tables.h"
#include "query/user_query.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStatBlock = 512;  // POSIX: what st_blocks counts
/// Of the room that is left in the folder of temporary files: others need some, too.
constexpr std::uint64_t kPartOfRoom = 2;

std::uint64_t room_in(const std::string& folder) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

/// Bytes of the files that this process has open and that have no name any more: SQLite's, among them.
std::uint64_t stored_in_temporary_files() {
  std::uint64_t blocks = 0;
  std::error_code error;
  fs::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    struct stat status {};
    const bool is_open = ::stat(entry->path().c_str(), &status) == 0;
    if (is_open && S_ISREG(status.st_mode) && status.st_nlink == 0)
      blocks += static_cast<std::uint64_t>(status.st_blocks);
  }
  return blocks * kStatBlock;
}

/// What keeps SQL that never ends from running for ever and from filling the disk. Made before the statement runs; says
/// why the statement must end now, if it must.
std::function<std::optional<Error>()> query_bounds() {
  return [stored_before = stored_in_temporary_files(),
          most_stored = room_in(folder_for_sorting()) / kPartOfRoom]() -> std::optional<Error> {
    if (is_time_over()) {
      return Error{fmt::format("takes longer than --timeout {} allows", time_limit()->count()),
                   "SQL",
                   {},
                   "allow more (0: no limit), or ask for less, e.g. with LIMIT"};
    }
    const std::uint64_t stored = stored_in_temporary_files();
    if (stored > stored_before && stored - stored_before > most_stored) {
      return Error{fmt::format("its temporary files take more than {} MiB, half of what is left in {}",
                               most_stored >> 20, folder_for_sorting()),
                   "SQL",
                   {},
                   "ask for less, or set SQLITE_TMPDIR to a folder with more room"};
    }
    return std::nullopt;
  };
}

struct QueryOptions {
  std::string sql;
  std::string sql_file;  ///< holds the SQL instead; empty: none
  std::string database;  ///< file that traces are kept in; empty: none
  ReadingOptions reading;
  OutputOptions output;
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
};

/// Of an answer that goes to another program's user (--embedded).
constexpr std::size_t kMostEmbeddedRows = 1'000;

/// Errors: nothing to ask, or nothing to ask about.
Result<QueryOptions> query_options(const Request& request, OutputOptions output) {
  const std::string usage = "tfdata-doctor query SQL TRACE..., 'query --schema' lists the tables";
  QueryOptions options = {request.argument("SQL"), request.text("sql-file"), request.text("db"),
                          reading_options(request), std::move(output)};
  if (request.is_set("embedded")) options.most_rows = kMostEmbeddedRows;
  std::vector<std::string>& traces = options.reading.traces;
  if (!options.sql_file.empty() && !options.sql.empty()) {
    traces.insert(traces.begin(), std::exchange(options.sql, {}));
  }
  if (options.sql.empty() && options.sql_file.empty()) return fail("query needs SQL", {}, usage);
  if (traces.empty() && options.database.empty()) return fail("no trace given", {}, usage);
  if (options.sql == "-" && std::ranges::count(traces, "-") > 0) {
    return fail("both the SQL and a trace are to be standard input", {}, usage);
  }
  return options;
}

/// The SQL as it was given, or as the file holds it.
Result<std::string> sql_of(const QueryOptions& choice) {
  if (choice.sql_file.empty() && choice.sql != "-") return choice.sql;
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                   open_source(choice.sql_file.empty() ? "-" : choice.sql_file));
  std::string sql(kLongest + 1, '\0');
  std::size_t size = 0;
  while (size < sql.size()) {
    ASSIGN_OR_RETURN(const std::size_t count, source->read(sql.data() + size, sql.size() - size));
    if (count == 0) break;
    size += count;
  }
  if (size > kLongest) return fail("is too long for SQL", source->name());
  sql.resize(size);
  return sql;
}

/// Whether the statement reads a table, or the rows below a view.
bool reads(const QueryNeeds& needs, std::string_view table) {
  return needs.has(table) || needs.has(stored_as(*find_query_table(table)));
}

/// What the statement asks about; with a database to keep, all.
LoadRequest load_request(const QueryNeeds& needs, const QueryDatabase& database) {
  if (!database.is_temporary()) return LoadRequest::everything();
  LoadRequest load;
  load.events.rows = needs.has("events") || needs.has(kEventRows) || needs.has(kEventLines) || needs.has(kEventNames);
  // Rows of tables are joined with what they share, whatever is asked of it.
  load.events.names = needs.event_names || database.events() == nullptr;
  load.events.tokens = needs.event_tokens || database.events() == nullptr;
  load.events.arguments = needs.arguments;
  load.measurements.diagnosis = needs.has("iterators") || needs.has("kernels") || needs.has("findings");
  load.measurements.calls = reads(needs, "calls") || reads(needs, "segments");
  load.measurements.profile = reads(needs, "steps") || needs.has("ops");
  load.files = needs.has("files");
  load.traces = needs.has("traces");
  return load;
}

/// With a limit, most of the memory is left to reading and sorting.
Result<QueryDatabase> open_database(const QueryOptions& options) {
  if (!options.database.empty()) {
    return QueryDatabase::open(options.database,
                               options.reading.traces.empty() ? DatabaseMode::read : DatabaseMode::change);
  }
  return QueryDatabase::temporary(std::min(QueryDatabase::kCacheBytes, options.reading.max_memory.bytes / 4));
}

/// A statement, and the database that it asks, which outlives it.
struct Session {
  QueryDatabase database;
  UserQuery query;
};

/// How many events may be kept in memory in place of tables; 0 where they must be in tables from the start.
std::size_t most_packed_events(const QueryOptions& options, const std::vector<std::string>& files) {
  // Of larger files there are more events than are kept: those would be read twice.
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{128} << 20;
  constexpr std::uint64_t kMostEvents = 2'500'000;
  constexpr std::uint64_t kEventBytes = sizeof(EventStore::Row) + sizeof(std::uint32_t);  // and its place in an order
  if (!options.database.empty()) return 0;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code fault;
    const std::uintmax_t size = file == "-" ? 0 : std::filesystem::file_size(file, fault);
    // Standard input does not come again.
    if (file == "-" || fault || size > kMostBytes) return 0;
    bytes += size;
  }
  if (bytes > kMostBytes) return 0;
  return static_cast<std::size_t>(std::min(kMostEvents, options.reading.max_memory.bytes / 4 / kEventBytes));
}

/// With packed events where the statement can be asked of them. Errors: the database cannot be opened, the statement
/// cannot be run.
Result<Session> open_session(const QueryOptions& options, const std::string& sql, std::size_t most_packed) {
  if (options.database.empty()) {
    Result<QueryDatabase> packed = QueryDatabase::with_packed_events(most_packed);
    if (!packed) return Unexpected(std::move(packed.error()));
    Result<UserQuery> query = UserQuery::prepare(*packed, sql);
    const bool can_be_packed = query && query->reads_only_events();
    const bool only_counts = can_be_packed && !query->needs().event_columns;
    if (only_counts) packed->events()->only_count();
    if (only_counts || (can_be_packed && most_packed > 0)) return Session{std::move(*packed), std::move(*query)};
  }
  Result<QueryDatabase> database = open_database(options);
  if (!database) return Unexpected(std::move(database.error()));
  // Before anything is loaded: what is wrong with the SQL is reported at once.
  Result<UserQuery> query = UserQuery::prepare(*database, sql);
  if (!query) return Unexpected(std::move(query.error()));
  return Session{std::move(*database), std::move(*query)};
}

/// What went wrong with single files is reported on standard error. Whether all could be read. Errors: no file could
/// be read, the database cannot be changed.
Result<bool> load(const QueryOptions& options, const std::vector<std::string>& files, QueryDatabase& database,
                  const QueryNeeds& needs) {
  RETURN_IF_ERROR(check_output(options.output.path(), files));
  const LoadRequest request = load_request(needs, database);
  QueryInputs inputs = examine_inputs(files, !database.is_temporary() || request.files || request.traces);
  std::vector<std::string> names;
  for (const QueryInput& input : inputs.traces) names.push_back(input.name);
  LoadReport report;
  Result<void> loaded;
  run_watched(names, options.output.quiet, [&](Progress& progress) {
    DiagnosisSetup setup = options.reading.setup;
    setup.work.progress = &progress;
    loaded = load_inputs(database, inputs, request, setup, report);
  });
  if (!loaded) return Unexpected(loaded.error());
  for (const std::string& name : inputs.repeated) {
    report.repeated.push_back({"counts once: the same as another file", name, {}, {}});
  }
  for (const std::vector<Error>* notes : {&report.repeated, &report.not_rows}) {
    for (const Error& note : *notes) {
      if (!options.output.quiet) print_error(note);
    }
  }
  const bool has_readable = report.unreadable.size() < inputs.traces.size() + inputs.rows.size();
  std::vector<Error> unreadable = std::move(inputs.unreadable);
  unreadable.insert(unreadable.end(), report.unreadable.begin(), report.unreadable.end());
  return print_unreadable(unreadable, has_readable);
}

/// A session with all that the statement asks about; `is_complete`: whether all files could be read. Errors: as of
/// open_session() and load().
Result<Session> loaded_session(const QueryOptions& options, const std::string& sql,
                               const std::vector<std::string>& files, std::size_t most_packed, bool& is_complete) {
  {
    Result<Session> session = open_session(options, sql, most_packed);
    if (!session || files.empty()) return session;
    const Result<bool> loaded = load(options, files, session->database, session->query.needs());
    const EventStore* const packed = session->database.events();
    if (packed == nullptr || !packed->is_full()) {
      if (!loaded) return Unexpected(loaded.error());
      is_complete = *loaded;
      return session;
    }
  }  // what was packed is let go of before it is read again
  return loaded_session(options, sql, files, 0, is_complete);
}

struct RowFormat {
  OutputFormat format;
  TableFormat rows;
};

constexpr std::array<RowFormat, 4> kQueryFormats = {{{OutputFormat::text, TableFormat::text},
                                                     {OutputFormat::json, TableFormat::json},
                                                     {OutputFormat::csv, TableFormat::csv},
                                                     {OutputFormat::markdown, TableFormat::markdown}}};

/// Rows for people in the C locale. Takes whole rows: no character is cut in two.
class AsciiSink final : public ByteSink {
 public:
  explicit AsciiSink(ByteSink& target) : target_(target) {}

  Result<void> write(std::string_view rows) override { return target_.write(in_ascii(std::string(rows))); }
  Result<void> finish() override { return target_.finish(); }

 private:
  ByteSink& target_;
};

SandboxNeeds needs_of(const QueryOptions& options, std::vector<std::string> files) {
  SandboxNeeds needs = {.inputs = std::move(files), .outputs = {options.output.path()}, .sorts_on_disk = true};
  if (options.database.empty()) return needs;
  (options.reading.traces.empty() ? needs.inputs : needs.databases).push_back(options.database);
  return needs;
}

/// All traces that were named, each by itself, or the run that was. Errors: there is no such run.
Result<SeparateInputs> inputs_of(const ReadingOptions& reading) {
  if (reading.run) {
    ASSIGN_OR_RETURN(std::vector<std::string> files, resolve_inputs(reading.traces, reading.run));
    return SeparateInputs{std::move(files), {}};
  }
  return resolve_separate_inputs(reading.traces);
}

/// Whether all traces could be read.
Result<bool> ask(const QueryOptions& options) {
  ASSIGN_OR_RETURN(std::string sql, sql_of(options));
  RETURN_IF_ERROR(limit_memory(options.reading.max_memory));
  // Before a database is opened, which somebody else may have made. What is wrong with the SQL is told first.
  const Result<SeparateInputs> inputs = inputs_of(options.reading);
  const std::vector<std::string> files = inputs ? inputs->files : std::vector<std::string>();
  RETURN_IF_ERROR(enter_sandbox(options.reading.sandbox, needs_of(options, files)));
  const auto begin = std::chrono::steady_clock::now();
  bool is_complete = true;
  Result<Session> session =
      loaded_session(options, sql, files, inputs ? most_packed_events(options, files) : 0, is_complete);
  if (!session) return Unexpected(std::move(session.error()));
  if (!inputs) return Unexpected(inputs.error());
  ASSIGN_OR_RETURN(const bool are_readable, print_unreadable(inputs->unreadable, !inputs->files.empty()));
  is_complete = is_complete && are_readable;
  UserQuery& query = session->query;
  const auto asked = std::chrono::steady_clock::now();
  current_work().progress.stage = "query";
  const LogEscape escape = options.output.format() == OutputFormat::json ? LogEscape::json : LogEscape::text;
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::open(options.output.path(), escape));
  AsciiSink ascii(*file);
  const bool is_plain = options.output.format() == OutputFormat::text && is_ascii_locale();
  OutputBuffer output(is_plain ? static_cast<ByteSink&>(ascii) : *file);
  query.end_when(query_bounds());
  RETURN_IF_ERROR(print_rows(query, row_of(kQueryFormats, options.output.format()).rows, page_width(options.output),
                             output, options.most_rows));
  RETURN_IF_ERROR(output.finish());
  if (options.reading.timings) {
    print_note(render_query_timings(current_work().progress, asked - begin, std::chrono::steady_clock::now() - asked,
                                    options.reading.setup.work.threads));
  }
  return is_complete;
}

}  // namespace

std::vector<OutputFormat> query_formats() {
  return formats_in(kQueryFormats);
}

Result<int> run_query(const Request& request) {
  ASSIGN_OR_RETURN(OutputOptions output, output_options(request));
  if (request.is_set("schema")) return print_page(tables_text(page_width(output)), output.path());
  if (request.is_set("examples")) return print_page(std::string(kQueryExamples), output.path());
  ASSIGN_OR_RETURN(const QueryOptions options, query_options(request, std::move(output)));
  ASSIGN_OR_RETURN(const bool asked, ask(options));
  return asked ? kExitClean : kExitFailure;
}

}  // namespace doctor
