#include "query/load_events.h"

#include <algorithm>
#include <utility>

#include "convert/event_columns.h"
#include "query/tables.h"

namespace doctor {

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
