#include "trace/chrome/chrome_event_reading.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "trace/chrome/json_text.h"
#include "trace/event_kind.h"
#include "trace/timeline/timeline_events.h"
#include "trace/trace_builder.h"

namespace doctor {
namespace {

constexpr std::size_t kUnnumbered = std::numeric_limits<std::size_t>::max();

}  // namespace

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

bool ChromeLines::is_among_wanted(std::uint64_t process) {
  const std::lock_guard lock(mutex_);
  const ChromeProcess& known = threads_.process(process);
  return !known.is_annotation && (wanted_ == WantedPlanes::all || known.kind == PlaneKind::device);
}

ChromeLine& ChromeLines::line_of(std::uint64_t process, std::uint64_t thread) {
  const std::lock_guard lock(mutex_);
  ChromeThread& known = threads_.thread(process, thread);
  if (known.lane == kNoLane) {
    known.lane = static_cast<LaneId>(lines_.size());
    ChromeLine& made = lines_.emplace_back();
    made.plane = &plane_of(*known.process);
    made.line.plane = made.plane;
    made.line.name = known.name();
    made.line.kind = kind_of_line(*made.plane, made.line.name);
    made.line.id = known.id;
    made.line.index = kUnnumbered;
  }
  return lines_[index_of(known.lane)];
}

EventPlane& ChromeLines::plane_of(ChromeProcess& process) {
  if (process.plane != nullptr) return *process.plane;
  EventPlane& plane = planes_.emplace_back();
  const std::string_view title = process.name;
  const std::optional<std::string> accelerator = accelerator_of(title);
  plane.title = title;
  plane.kind = process.kind;
  plane.id = process.id;
  plane.index = kUnnumbered;
  // "name /host:CPU" and "name /device:GPU:0" where a trace has several hosts.
  const std::string_view host = title.substr(0, std::min(title.find(" /"), title.size()));
  if (threads_.has_host(host)) plane.host = host;
  plane.name = accelerator ? *accelerator : title.substr(plane.host.empty() ? 0 : plane.host.size() + 1);
  process.plane = &plane;
  return plane;
}

void ChromeLines::number(ChromeLine& line) {
  if (line.line.index != kUnnumbered) return;
  line.line.index = line_count_++;
  if (line.plane->index == kUnnumbered) line.plane->index = plane_count_++;
}

}  // namespace doctor
