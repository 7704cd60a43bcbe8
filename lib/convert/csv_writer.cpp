#include <fmt/format.h>

#include <iterator>
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
  void add_text(std::string_view value) { output().text.append(csv_field(value)) += ','; }
  void add_number(std::int64_t value) { fmt::format_to(std::back_inserter(output().text), "{},", value); }
  void add_time(Picoseconds value) {
    append_microseconds(output().text, value);
    output().text += ',';
  }
  void add_token(const std::optional<std::uint64_t>& value) {
    if (value) fmt::format_to(std::back_inserter(output().text), "{}", *value);
    output().text += ',';
  }

  bool has_begun_ = false;
  const EventFile* file_ = nullptr;
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
  add_text(columns.file);
  add_text(columns.host);
  add_text(columns.process);
  add_text(columns.thread);
  add_number(columns.pid);
  add_number(columns.tid);
  add_text(columns.name);
  add_text(columns.long_name);
  add_text(columns.op_type);
  add_number(columns.origin_ns);
  add_time(columns.start);
  add_time(columns.duration);
  add_token(columns.iterator_id);
  add_token(columns.parent_id);
  arguments_.clear();
  append_arguments(arguments_, {}, event.arguments);
  output().text.append(csv_field(arguments_)) += '\n';
  output().end_piece();
}

}  // namespace

std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output) {
  return std::make_unique<CsvWriter>(output);
}

}  // namespace doctor
