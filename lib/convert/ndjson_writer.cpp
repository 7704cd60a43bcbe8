#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/json_page.h"

// One JSON object a line with the members of EventColumns, for warehouses. 64-bit ids and epoch times are strings:
// most readers would round them as numbers.

namespace doctor {
namespace {

class NdjsonWriter final : public EventWriter {
 public:
  using EventWriter::EventWriter;

  void begin_file(const EventFile& file) override { file_ = &file; }
  void add(const TraceEvent& event) override;
  void end_document() override {}

 private:
  void add_key(std::string_view key);
  void add_text(std::string_view key, std::string_view value);
  void add_number(std::string_view key, std::int64_t value);
  void add_time(std::string_view key, Picoseconds value);
  void add_token(std::string_view key, const std::optional<std::uint64_t>& value);

  const EventFile* file_ = nullptr;
};

void NdjsonWriter::add_key(std::string_view key) {
  std::string& text = output().text;
  text += text.empty() || text.back() == '\n' ? "{\"" : ",\"";
  text.append(key).append("\":");
}

void NdjsonWriter::add_text(std::string_view key, std::string_view value) {
  add_key(key);
  append_json_string(output().text, value);
}

void NdjsonWriter::add_number(std::string_view key, std::int64_t value) {
  add_key(key);
  const fmt::format_int digits(value);
  output().text.append(digits.data(), digits.size());
}

void NdjsonWriter::add_time(std::string_view key, Picoseconds value) {
  add_key(key);
  append_microseconds(output().text, value);
}

void NdjsonWriter::add_token(std::string_view key, const std::optional<std::uint64_t>& value) {
  add_key(key);
  if (value) {
    fmt::format_to(std::back_inserter(output().text), "\"{}\"", *value);
  } else {
    output().text += "null";
  }
}

void NdjsonWriter::add(const TraceEvent& event) {
  const EventColumns columns = columns_of(*file_, event);
  add_text("file", columns.file);
  add_text("host", columns.host);
  add_text("process", columns.process);
  add_text("thread", columns.thread);
  add_number("pid", columns.pid);
  add_number("tid", columns.tid);
  add_text("name", columns.name);
  add_text("long_name", columns.long_name);
  add_text("op_type", columns.op_type);
  add_key("origin_ns");
  fmt::format_to(std::back_inserter(output().text), "\"{}\"", columns.origin_ns);
  add_time("start_us", columns.start);
  add_time("duration_us", columns.duration);
  add_token("iterator_id", columns.iterator_id);
  add_token("parent_id", columns.parent_id);
  add_key("args");
  append_arguments(output().text, {}, event.arguments);
  output().text += "}\n";
  output().end_piece();
}

}  // namespace

std::unique_ptr<EventWriter> ndjson_writer(OutputBuffer& output) {
  return std::make_unique<NdjsonWriter>(output);
}

}  // namespace doctor
