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
  void add_text(std::string_view key, std::string_view value);
  void add_time(std::string_view key, Picoseconds value);
  void add_token(std::string_view key, const std::optional<std::uint64_t>& value);

  const EventFile* file_ = nullptr;
  ThreadPrefix thread_;
};

/// Appends the key of a member that is not the first.
void add_key(std::string& out, std::string_view key) {
  out += ",\"";
  out.append(key).append("\":");
}

void append_thread(std::string& out, const EventColumns& columns) {
  out += "{\"file\":";
  append_json_string(out, columns.file);
  add_key(out, "host");
  append_json_string(out, columns.host);
  add_key(out, "process");
  append_json_string(out, columns.process);
  add_key(out, "thread");
  append_json_string(out, columns.thread);
  add_key(out, "pid");
  append_integer(out, columns.pid);
  add_key(out, "tid");
  append_integer(out, columns.tid);
}

void NdjsonWriter::add_text(std::string_view key, std::string_view value) {
  add_key(output().text, key);
  append_json_string(output().text, value);
}

void NdjsonWriter::add_time(std::string_view key, Picoseconds value) {
  add_key(output().text, key);
  append_microseconds(output().text, value);
}

void NdjsonWriter::add_token(std::string_view key, const std::optional<std::uint64_t>& value) {
  std::string& text = output().text;
  add_key(text, key);
  if (!value) {
    text += "null";
    return;
  }
  text += '"';
  append_integer(text, *value);
  text += '"';
}

void NdjsonWriter::add(const TraceEvent& event) {
  const EventColumns columns = columns_of(*file_, event);
  std::string& text = output().text;
  text += thread_.of(columns, [&](std::string& prefix) { append_thread(prefix, columns); });
  add_text("name", columns.name);
  add_text("long_name", columns.long_name);
  add_text("op_type", columns.op_type);
  add_key(text, "origin_ns");
  text += '"';
  append_integer(text, columns.origin_ns);
  text += '"';
  add_time("start_us", columns.start);
  add_time("duration_us", columns.duration);
  add_token("iterator_id", columns.iterator_id);
  add_token("parent_id", columns.parent_id);
  add_key(text, "args");
  append_arguments(text, {}, event.arguments);
  text += "}\n";
  output().end_piece();
}

}  // namespace

std::unique_ptr<EventWriter> ndjson_writer(OutputBuffer& output) {
  return std::make_unique<NdjsonWriter>(output);
}

}  // namespace doctor
