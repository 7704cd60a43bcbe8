#include "query/load_events.h"

#include <utility>

#include "convert/event_columns.h"
#include "query/tables.h"

namespace doctor {

EventLoader::EventLoader(QueryDatabase& database, std::string path, EventRequest request)
    : database_(database), number_(database.next_number(kEventClocks, "file")) {
  file_.path = std::move(path);
  if (!request.rows) return;
  storage_.emplace(Storage{EventNames(database), EventRows(database, request.arguments),
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
  if (!storage_) return;
  storage_->rows.add(line_of(event), storage_->names.number_of(file_, event), event.start, event.duration,
                     event.arguments);
}

Result<void> EventLoader::finish() {
  if (!storage_) return {};
  RowInserter clock(database_, kEventClocks, 4);
  clock.integer(number_).integer(file_.header.origin_ns).integer(file_.header.first_ns).null().end_row();
  for (const Result<void>& stored :
       {storage_->rows.finish(), storage_->names.finish(), storage_->lines.finish(), clock.finish()}) {
    if (!stored) return stored;
  }
  return {};
}

}  // namespace doctor
