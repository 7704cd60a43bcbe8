#include <sqlite3.h>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "query/load_inputs.h"
#include "query/tables.h"
#include "trace/event_kind.h"

namespace doctor {

namespace {

void add_token(RowInserter& row, const std::optional<std::uint64_t>& token) {
  token ? row.text(std::to_string(*token)) : row.null();
}

std::string insert_sql(std::size_t count) {
  std::string sql = "INSERT INTO " + std::string(kEventRows) + " VALUES (?,?,?,?,?)";
  for (std::size_t row = 1; row < count; ++row) sql += ",(?,?,?,?,?)";
  return sql;
}

}  // namespace

EventNames::EventNames(QueryDatabase& database, bool has_tokens)
    : has_tokens_(has_tokens),
      rows_(database, kEventNames, 6),
      next_(database.next_number(kEventNames, "name_number")) {}

std::int64_t EventNames::number_of(const EventFile& file, const TraceEvent& event) {
  const std::int64_t number = numbers_.of(event, [&] {
    const bool has_many = has_tokens_ && classify_event(event.name) == EventKind::iterator;
    return has_many ? kManyNumbers : number_by_text(file, event);
  });
  return number == kManyNumbers ? number_by_text(file, event) : number;
}

std::int64_t EventNames::number_by_text(const EventFile& file, const TraceEvent& event) {
  forget_if_full();
  key_.assign(event.name).append(1, '\0').append(event.short_name);
  const auto [place, is_new] = names_.try_emplace(key_);
  Name& name = place->second;
  if (is_new) {
    known_bytes_ += key_.size();
    name.is_iterator = has_tokens_ && classify_event(event.name) == EventKind::iterator;
    if (!name.is_iterator) name.number = add(columns_of(file, event));
  }
  if (!name.is_iterator) return name.number;
  const EventColumns columns = columns_of(file, event);
  const auto [object, is_first] = name.objects.try_emplace({columns.iterator_id, columns.parent_id});
  if (is_first) object->second = add(columns);
  return object->second;
}

void EventNames::forget_if_full() {
  if (known_ < kMostKnown && known_bytes_ < kMostKnownBytes) return;
  names_.clear();
  known_ = known_bytes_ = 0;
}

std::int64_t EventNames::add(const EventColumns& columns) {
  ++known_;
  rows_.integer(next_).text(columns.name).text(columns.long_name).text(columns.op_type);
  add_token(rows_, columns.iterator_id);
  add_token(rows_, columns.parent_id);
  rows_.end_row();
  return next_++;
}

EventRows::EventRows(QueryDatabase& database, bool has_arguments)
    : database_(database),
      has_arguments_(has_arguments),
      insert_one_(prepare(database.handle(), insert_sql(1))),
      insert_many_(prepare(database.handle(), insert_sql(kRowsAtOnce))) {
  if (!insert_one_ || !insert_many_) fault_ = database_.failure().value();
}

void EventRows::add(std::int64_t line, std::int64_t name, Picoseconds start, Picoseconds duration,
                    std::span<const EventArgument> arguments) {
  if (EventStore* const store = database_.events(); store != nullptr) {
    const EventStore::Row row{static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(name), start, duration};
    if (!store->add(row)) fault_ = Error{"too many events to keep them in memory", {}, {}, {}};
    return;
  }
  Row& row = rows_[count_++];
  row.line = line;
  row.name = name;
  row.start = start;
  row.duration = duration;
  row.arguments.clear();
  if (has_arguments_ && !arguments.empty()) append_arguments(row.arguments, {}, arguments);
  if (count_ == kRowsAtOnce) flush();
}

void EventRows::insert(const Statement& statement, std::size_t begin, std::size_t end) {
  if (fault_) return;
  int parameter = 0;
  for (std::size_t index = begin; index < end; ++index) {
    const Row& row = rows_[index];
    sqlite3_bind_int64(statement.get(), ++parameter, row.line);
    sqlite3_bind_int64(statement.get(), ++parameter, row.name);
    sqlite3_bind_int64(statement.get(), ++parameter, row.start);
    sqlite3_bind_int64(statement.get(), ++parameter, row.duration);
    ++parameter;
    if (row.arguments.empty()) {
      sqlite3_bind_null(statement.get(), parameter);
    } else {
      // Not copied: it lives until the statement has run.
      sqlite3_bind_text64(statement.get(), parameter, row.arguments.data(), row.arguments.size(), SQLITE_STATIC,
                          SQLITE_UTF8);
    }
  }
  if (sqlite3_step(statement.get()) != SQLITE_DONE) fault_ = database_.failure().value();
  sqlite3_reset(statement.get());
}

void EventRows::flush() {
  if (count_ == kRowsAtOnce) {
    insert(insert_many_, 0, count_);
  } else {
    for (std::size_t index = 0; index < count_; ++index) insert(insert_one_, index, index + 1);
  }
  count_ = 0;
}

Result<void> EventRows::finish() {
  flush();
  if (fault_) return Unexpected(*fault_);
  return {};
}

EventLoader::EventLoader(QueryDatabase& database, std::int64_t trace, std::string path, EventRequest request)
    : database_(database), trace_(trace), request_(request), number_(database.next_number(kEventClocks, "file")) {
  file_.path = std::move(path);
  if (!request.rows) return;
  storage_.emplace(Storage{EventNames(database, request.tokens), EventRows(database, request.arguments),
                           RowInserter(database, kEventLines, 10), database.next_number(kEventLines, "line")});
}

void EventLoader::begin(const EventHeader& header) {
  file_.header = header;
}

std::int64_t EventLoader::line_of(const TraceEvent& event) {
  const std::size_t index = event.line->index;
  if (index >= lines_.size()) lines_.resize(index + 1, 0);
  if (lines_[index] != 0) return lines_[index];
  const EventColumns columns = columns_of(file_, event);
  storage_->lines.integer(storage_->next_line).integer(number_).text(columns.file).text(columns.host);
  storage_->lines.text(columns.process).text(columns.thread).integer(columns.pid).integer(columns.tid);
  storage_->lines.integer(0).integer(0).end_row();
  return lines_[index] = storage_->next_line++;
}

void EventLoader::take(const TraceEvent& event) {
  first_start_ = std::min(first_start_.value_or(event.start), event.start);
  if (!storage_) return;
  const std::int64_t name = request_.names ? storage_->names.number_of(file_, event) : 0;
  storage_->rows.add(line_of(event), name, event.start, event.duration, event.arguments);
}

ArgumentGroups EventLoader::groups_of(std::string_view argument) const {
  const bool is_wanted = request_.arguments || (request_.names && request_.tokens && EventNames::wants(argument));
  return is_wanted ? kAllArguments : ArgumentGroups{};
}

Result<void> EventLoader::finish() {
  RowInserter clock(database_, kEventClocks, 6);
  if (first_start_) {
    clock.integer(number_)
        .integer(trace_)
        .integer(file_.header.origin_ns)
        .integer(*first_start_)
        .null()
        .null()
        .end_row();
  }
  if (!storage_) return clock.finish();
  for (const Result<void>& stored :
       {storage_->rows.finish(), storage_->names.finish(), storage_->lines.finish(), clock.finish()}) {
    if (!stored) return stored;
  }
  return {};
}

}  // namespace doctor
