#include "trace/chrome/chrome_event_reading.h"

#include <charconv>
#include <system_error>

#include "trace/chrome/json_text.h"
#include "trace/event_kind.h"
#include "trace/timeline/timeline_events.h"
#include "trace/trace_builder.h"

namespace doctor {

[[gnu::always_inline]] inline void ArgumentReader::add(const JsonMember& member) {
  EventArgument& argument = arguments_.emplace_back();
  argument.name = unescape(member.key);
  if (member.is_string) {
    argument.text = unescape(member.value);
    return;
  }
  if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    argument.type = ArgumentType::integer;
    argument.integer = *number;
    return;
  }
  if (const std::optional<std::uint64_t> number = parse_token(member.value)) {
    argument.type = ArgumentType::unsigned_integer;
    argument.unsigned_integer = *number;
    return;
  }
  const char* const end = member.value.data() + member.value.size();
  const std::from_chars_result parsed = std::from_chars(member.value.data(), end, argument.real);
  if (parsed.ec == std::errc{} && parsed.ptr == end) {
    argument.type = ArgumentType::real;
  } else {
    argument.text = member.value;  // true, null, or a nested value as its text
  }
}

std::string_view ArgumentReader::text_of(std::string_view name) const {
  for (const EventArgument& argument : arguments_) {
    if (argument.name == name && argument.type == ArgumentType::text) return argument.text;
  }
  return {};
}

[[gnu::always_inline]] inline void EventReading::name_event(std::string_view name, TraceEvent& event) {
  event.name = name;
  if (document_.dialect == Dialect::chrome) {
    const std::string_view long_name = arguments_.text_of("long_name");
    if (long_name.empty()) return;
    event.name = long_name;
    event.short_name = name;
    return arguments_.remove("long_name");
  }
  // Timelines have the node in `name` of the arguments, with its op type after it where the event is named "unknown".
  const std::string_view node = arguments_.text_of("name");
  const std::string_view op = arguments_.text_of("op");
  if (node.empty()) return;
  event.is_repeat = document_.repeats.contains(name, node, {event.start, event.start + event.duration});
  event.name = node;
  event.short_name = name;
  const bool has_type = classify_event(node) == EventKind::iterator || !op_type_of(node).empty();
  if (has_type || op.empty() || op == "unknown") return;
  std::string& typed = arguments_.new_text();
  typed.assign(node).append(":").append(op);
  event.name = typed;
}

ChromeLine& EventReading::known_line(std::uint64_t process, std::uint64_t thread) {
  const std::uint64_t hash = (process + thread) * 0x9e37'79b9'7f4a'7c15u;
  KnownLine& known = known_lines_[hash >> 58];
  if (known.line == nullptr || known.process != process || known.thread != thread) {
    known = {process, thread, &document_.lines.line_of(process, thread)};
  }
  return *known.line;
}

/// Neighbours in a file are mostly of one thread.
[[gnu::always_inline]] inline const EventLine& EventReading::line_of(const ChromeEvent& event) {
  if (line_ != nullptr && line_->id == event.thread && line_process_ == event.process) return *line_;
  ChromeLine& met = known_line(event.process, event.thread);
  if (met_lines_ == nullptr) {
    document_.lines.number(met);
  } else {
    met_lines_->push_back(&met);
  }
  line_process_ = event.process;
  line_ = &met.line;
  return *line_;
}

void EventReading::take(const ChromeEvent& event) {
  const bool is_chrome = document_.dialect == Dialect::chrome;
  const char* const fault = (is_chrome ? time_fault : timeline_time_fault)(event.start, event.duration);
  if (fault != nullptr) return lose(fault, 1);
  ++totals_.event_count;
  arguments_.begin();
  for (const JsonMember& member : event.arguments) arguments_.add(member);
  TraceEvent handed_on;
  handed_on.line = &line_of(event);
  handed_on.start = event.start;
  handed_on.duration = event.duration;
  name_event(event.name, handed_on);
  handed_on.arguments = arguments_.arguments();
  sink_->take(handed_on);
}

}  // namespace doctor
