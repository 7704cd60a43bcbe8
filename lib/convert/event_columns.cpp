#include "convert/event_columns.h"

namespace doctor {
namespace {

std::optional<std::uint64_t> token_of(const TraceEvent& event, std::string_view name) {
  const EventArgument* const argument = event.find(name);
  const std::optional<std::int64_t> token = argument == nullptr ? std::nullopt : argument->as_integer();
  return token ? std::optional(static_cast<std::uint64_t>(*token)) : std::nullopt;
}

/// Rows that a thread spells.
class RowPart final : public EventSink {
 public:
  explicit RowPart(std::unique_ptr<SpelledRows> rows) : rows_(std::move(rows)) {}

  void take(const TraceEvent& event) override { rows_->append(event, text); }

  std::string text;

 private:
  std::unique_ptr<SpelledRows> rows_;
};

class RowWriter final : public EventWriter {
 public:
  RowWriter(OutputBuffer& output, std::string_view head, MakeRows make_rows)
      : EventWriter(output), head_(head), make_rows_(std::move(make_rows)) {}

  void begin_file(const EventFile& file) override {
    begin_document();
    file_ = &file;
    rows_ = make_rows_(file);
  }
  void add(const TraceEvent& event) override {
    rows_->append(event, output().text);
    output().end_piece();
  }
  std::unique_ptr<EventSink> make_part() override { return std::make_unique<RowPart>(make_rows_(*file_)); }
  void join(EventSink& part) override {
    std::string& text = static_cast<RowPart&>(part).text;
    output().text += text;
    output().end_piece();
    text.clear();
  }
  void end_document() override { begin_document(); }

 private:
  void begin_document() { output().text += std::exchange(head_, {}); }

  std::string head_;  ///< empty once it is written
  MakeRows make_rows_;
  const EventFile* file_ = nullptr;
  std::unique_ptr<SpelledRows> rows_;
};

}  // namespace

EventColumns thread_columns_of(const EventFile& file, const TraceEvent& event) {
  const EventPlane& plane = *event.line->plane;
  EventColumns columns;
  columns.file = file.path;
  columns.host = plane.host;
  if (plane.host.empty() && !file.header.hosts.empty()) columns.host = file.header.hosts.front();
  columns.process = plane.name;
  columns.thread = event.line->name;
  columns.pid = static_cast<std::int64_t>(plane.id);
  columns.tid = static_cast<std::int64_t>(event.line->id);
  return columns;
}

EventKind add_name_columns(const TraceEvent& event, EventColumns& columns) {
  columns.name = event.short_name.empty() ? event.name : event.short_name;
  columns.long_name = event.name;
  const EventKind kind = classify_event(event.name);
  if (kind == EventKind::op) columns.op_type = op_type_of(event.name);
  return kind;
}

void add_iterator_columns(const TraceEvent& event, EventColumns& columns) {
  columns.iterator_id = token_of(event, "id");
  columns.parent_id = token_of(event, "parent_id");
}

EventColumns columns_of(const EventFile& file, const TraceEvent& event) {
  EventColumns columns = thread_columns_of(file, event);
  const EventKind kind = add_name_columns(event, columns);
  columns.origin_ns = file.origin_ns;
  columns.start = event.start + file.shift;
  columns.duration = event.duration;
  if (kind == EventKind::iterator) add_iterator_columns(event, columns);
  return columns;
}

std::string& ThreadPrefix::begin(const EventLine& line) {
  line_ = &line;
  id_ = line.id;
  plane_id_ = line.plane->id;
  name_ = line.name;
  plane_name_ = line.plane->name;
  host_ = line.plane->host;
  spelled_.clear();
  return spelled_;
}

std::unique_ptr<EventWriter> row_writer(OutputBuffer& output, std::string_view head, MakeRows make_rows) {
  return std::make_unique<RowWriter>(output, head, std::move(make_rows));
}

}  // namespace doctor
