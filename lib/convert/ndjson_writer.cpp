#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "text/json_page.h"

// One JSON object a line with the members of EventColumns, for warehouses. 64-bit ids and epoch times are strings:
// most readers would round them as numbers.

namespace doctor {
namespace {

class NdjsonRows final : public SpelledRows {
 public:
  using SpelledRows::SpelledRows;

  void append(const TraceEvent& event, std::string& text) override;

 private:
  SpelledName spelled(const TraceEvent& event) const;
  const std::string& begin_of_row(const TraceEvent& event);
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

/// The members that the events of a thread share.
const std::string& NdjsonRows::begin_of_row(const TraceEvent& event) {
  if (thread_.is_of(*event.line)) return thread_.spelled();
  const EventColumns columns = thread_columns_of(file_, event);
  std::string& prefix = thread_.begin(*event.line);
  append_thread(prefix, columns);
  return prefix;
}

char* put_token(char* to, const std::optional<std::uint64_t>& token) {
  if (!token) return put(to, "null");
  *to++ = '"';
  to = put_integer(to, *token);
  *to++ = '"';
  return to;
}

SpelledName NdjsonRows::spelled(const TraceEvent& event) const {
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
  append_integer(name.text, file_.origin_ns);
  name.text += '"';
  return name;
}

void NdjsonRows::append(const TraceEvent& event, std::string& text) {
  constexpr std::string_view kStart = ",\"start_us\":";
  constexpr std::string_view kDuration = ",\"duration_us\":";
  constexpr std::string_view kId = ",\"iterator_id\":";
  constexpr std::string_view kParent = ",\"parent_id\":";
  constexpr std::string_view kArguments = ",\"args\":";
  constexpr std::size_t kKeys = kStart.size() + kDuration.size() + kId.size() + kParent.size() + kArguments.size();
  constexpr std::size_t kQuotes = 4;
  text += begin_of_row(event);
  const SpelledName& name = names_.of(event, [&] { return spelled(event); });
  text += name.text;
  EventColumns columns;
  if (name.is_iterator) add_iterator_columns(event, columns);
  std::array<char, kKeys + 2 * kLongestTime + 2 * kLongestInteger + kQuotes> members;
  char* to = put_microseconds(put(members.data(), kStart), event.start + file_.shift);
  to = put_microseconds(put(to, kDuration), event.duration);
  to = put_token(put(to, kId), columns.iterator_id);
  to = put_token(put(to, kParent), columns.parent_id);
  to = put(to, kArguments);
  text.append(members.data(), to);
  append_arguments(text, {}, event.arguments);
  text += "}\n";
}

}  // namespace

std::unique_ptr<EventWriter> ndjson_writer(OutputBuffer& output) {
  return row_writer(output, {}, [](const EventFile& file) { return std::make_unique<NdjsonRows>(file); });
}

}  // namespace doctor
