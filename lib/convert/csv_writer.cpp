#include <string>
#include <string_view>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/escape.h"
#include "trace/name_memo.h"

// CSV (RFC 4180 with line feeds) with the columns of EventColumns; foreign text is made safe for spreadsheets.

namespace doctor {
namespace {

class CsvWriter final : public EventWriter {
 public:
  using EventWriter::EventWriter;

  void begin_file(const EventFile& file) override {
    begin_document();
    file_ = &file;
    names_.clear();
  }
  void add(const TraceEvent& event) override;
  void end_document() override { begin_document(); }

 private:
  void begin_document();
  SpelledName spelled(const TraceEvent& event) const;
  void add_time(Picoseconds value) {
    append_microseconds(output().text, value);
    output().text += ',';
  }
  void add_token(const std::optional<std::uint64_t>& value) {
    if (value) append_integer(output().text, *value);
    output().text += ',';
  }

  bool has_begun_ = false;
  const EventFile* file_ = nullptr;
  ThreadPrefix thread_;
  NameMemo<SpelledName> names_;
};

void CsvWriter::begin_document() {
  if (has_begun_) return;
  has_begun_ = true;
  for (const std::string_view name : kEventColumnNames) output().text.append(name) += ',';
  output().text.back() = '\n';
}

SpelledName CsvWriter::spelled(const TraceEvent& event) const {
  EventColumns columns;
  SpelledName name;
  name.is_iterator = add_name_columns(event, columns) == EventKind::iterator;
  for (const std::string_view text : {columns.name, columns.long_name, columns.op_type}) {
    append_csv_field(name.text, text);
    name.text += ',';
  }
  append_integer(name.text, file_->origin_ns);
  name.text += ',';
  return name;
}

void CsvWriter::add(const TraceEvent& event) {
  EventColumns columns = thread_columns_of(*file_, event);
  output().text += thread_.of(columns, [&](std::string& prefix) {
    for (const std::string_view text : {columns.file, columns.host, columns.process, columns.thread}) {
      append_csv_field(prefix, text);
      prefix += ',';
    }
    for (const std::int64_t number : {columns.pid, columns.tid}) {
      append_integer(prefix, number);
      prefix += ',';
    }
  });
  const SpelledName& name = names_.of(event, [&] { return spelled(event); });
  output().text += name.text;
  if (name.is_iterator) add_iterator_columns(event, columns);
  add_time(event.start + file_->shift);
  add_time(event.duration);
  add_token(columns.iterator_id);
  add_token(columns.parent_id);
  append_csv_arguments(output().text, event.arguments);
  output().text += '\n';
  output().end_piece();
}

}  // namespace

std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output) {
  return std::make_unique<CsvWriter>(output);
}

}  // namespace doctor
