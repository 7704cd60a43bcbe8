#include <string>
#include <string_view>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/json_page.h"
#include "trace/name_memo.h"

// One JSON object a line with the members of EventColumns, for warehouses. 64-bit ids and epoch times are strings:
// most readers would round them as numbers.

namespace doctor {
namespace {

class NdjsonWriter final : public EventWriter {
 public:
  using EventWriter::EventWriter;

  void begin_file(const EventFile& file) override {
    file_ = &file;
    names_.clear();
  }
  void add(const TraceEvent& event) override;
  void end_document() override {}

 private:
  SpelledName spelled(const TraceEvent& event) const;
  void add_time(std::string_view key, Picoseconds value);
  void add_token(std::string_view key, const std::optional<std::uint64_t>& value);

  const EventFile* file_ = nullptr;
  ThreadPrefix thread_;
  NameMemo<SpelledName> names_;
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

SpelledName NdjsonWriter::spelled(const TraceEvent& event) const {
  EventColumns columns;
  SpelledName name;
  name.is_iterator = add_name_columns(event, columns) == EventKind::iterator;
  add_key(name.text, "name");
  append_json_string(name.text, columns.name);
  add_key(name.text, "long_name");
  append_json_string(name.text, columns.long_name);
  add_key(name.text, "op_type");
  append_json_string(name.text, columns.op_type);
  add_key(name.text, "origin_ns");
  name.text += '"';
  append_integer(name.text, file_->origin_ns);
  name.text += '"';
  return name;
}

void NdjsonWriter::add(const TraceEvent& event) {
  EventColumns columns = thread_columns_of(*file_, event);
  std::string& text = output().text;
  text += thread_.of(columns, [&](std::string& prefix) { append_thread(prefix, columns); });
  const SpelledName& name = names_.of(event, [&] { return spelled(event); });
  text += name.text;
  if (name.is_iterator) add_iterator_columns(event, columns);
  add_time("start_us", event.start + file_->shift);
  add_time("duration_us", event.duration);
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
