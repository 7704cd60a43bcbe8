#include <string>
#include <string_view>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/escape.h"

// CSV (RFC 4180 with line feeds) with the columns of EventColumns; foreign text is made safe for spreadsheets.

namespace doctor {
namespace {

class CsvWriter final : public EventWriter {
 public:
  using EventWriter::EventWriter;

  void begin_file(const EventFile& file) override {
    begin_document();
    file_ = &file;
  }
  void add(const TraceEvent& event) override;
  void end_document() override { begin_document(); }

 private:
  void begin_document();
  void add_text(std::string_view value) {
    append_csv_field(output().text, value);
    output().text += ',';
  }
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
  std::string arguments_;
};

void CsvWriter::begin_document() {
  if (has_begun_) return;
  has_begun_ = true;
  for (const std::string_view name : kEventColumnNames) output().text.append(name) += ',';
  output().text.back() = '\n';
}

void CsvWriter::add(const TraceEvent& event) {
  const EventColumns columns = columns_of(*file_, event);
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
  add_text(columns.name);
  add_text(columns.long_name);
  add_text(columns.op_type);
  append_integer(output().text, columns.origin_ns);
  output().text += ',';
  add_time(columns.start);
  add_time(columns.duration);
  add_token(columns.iterator_id);
  add_token(columns.parent_id);
  arguments_.clear();
  append_arguments(arguments_, {}, event.arguments);
  append_csv_field(output().text, arguments_);
  output().text += '\n';
  output().end_piece();
}

}  // namespace

std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output) {
  return std::make_unique<CsvWriter>(output);
}

}  // namespace doctor
