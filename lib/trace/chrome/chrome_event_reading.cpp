#include "trace/chrome/chrome_event_reading.h"

#include <charconv>
#include <system_error>

#include "trace/timeline/timeline_events.h"

namespace doctor {
namespace {

/// Key of the name that an event has beside a brief one.
constexpr std::string_view kLongName = "long_name";

}  // namespace

[[gnu::always_inline]] inline void ArgumentReader::add(std::string_view name, ArgumentGroups groups,
                                                       const JsonMember& member) {
  EventArgument& argument = arguments_.emplace_back();
  argument.name = name;
  argument.groups = groups;
  if (member.is_string) {
    argument.text = unescape(member.value);
    return;
  }
  if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    argument.type = ArgumentType::integer;
    argument.integer = *number;
    argument.unsigned_integer = static_cast<std::uint64_t>(*number);
    return;
  }
  if (const std::optional<std::uint64_t> number = parse_token(member.value)) {
    argument.type = ArgumentType::unsigned_integer;
    argument.integer = static_cast<std::int64_t>(*number);
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

/// Long names of iterators begin alike, and those of the elements of an interleave end alike, too; those of ops end
/// alike.
EventUse KnownUses::use_of(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15u;
  std::size_t place = kMostNames;
  if (text.size() <= kLongestName) {
    std::uint64_t mixed = leading_word(text) + text.size();
    const char* const end = text.data() + text.size();
    if (text.size() >= kWord) mixed ^= 3 * load_word(end - kWord);
    if (text.size() >= 3 * kWord) mixed ^= 5 * load_word(end - 2 * kWord) ^ 7 * load_word(end - 3 * kWord);
    place = mixed * kSpread >> 56;
  }
  Name& name = names_[place];
  if (!name.is_known || !is_same_text(name.text, text)) name = {std::string(text), sink_.use_of(text), true};
  return name.use;
}

/// Of a key beyond kMostKeys nothing is remembered.
const KnownUses::Key& KnownUses::search(std::string_view raw) {
  for (const Key& key : keys_) {
    if (key.raw == raw) return key;
  }
  const bool is_kept = keys_.size() < kMostKeys;
  Key& key = is_kept ? keys_.emplace_back() : other_key_;
  std::string scratch;
  key.raw = raw;
  key.name = unescape_json(raw, scratch);
  key.groups = sink_.groups_of(key.name);
  key.device_groups = sink_.device_groups_of(key.name);
  return key;
}

/// The event with the arguments that the sink uses. False: it does not use the event.
bool EventReading::read_used(const ChromeEvent& event, TraceEvent& handed_on) {
  const bool is_of_host = handed_on.line->plane->kind == PlaneKind::host;
  const bool is_of_device = handed_on.line->plane->kind == PlaneKind::device;
  EventUse use;
  if (is_of_host) use = uses_.use_of(event.name);
  handed_on.meaning = handed_on.short_meaning = use.meaning;
  bool has_long_name = false;
  for (const JsonMember& member : event.arguments) {
    if (member.key != kLongName || !member.is_string || member.value.empty()) continue;
    has_long_name = true;
    handed_on.short_name = event.name;
    handed_on.name = arguments_.unescape(member.value);
    if (is_of_host) {
      const EventUse use_of_long = uses_.use_of(handed_on.name);
      handed_on.meaning = use_of_long.meaning;
      use.is_taken = use.is_taken || use_of_long.is_taken;
      use.arguments |= use_of_long.arguments;
    }
    break;
  }
  if (!use.is_taken && (use.arguments & EventSink::kMarks) == 0) return false;
  ArgumentGroups groups = 0;
  for (const JsonMember& member : event.arguments) {
    const KnownUses::Key& key = uses_.key(member.key);
    const ArgumentGroups used = is_of_host ? key.groups : is_of_device ? key.device_groups : kAllArguments;
    if ((used & use.arguments) == 0 || (has_long_name && key.name == kLongName)) continue;
    groups |= used;
    arguments_.add(uses_.is_kept(key) ? std::string_view(key.name) : arguments_.new_text() = key.name, used, member);
  }
  return use.is_taken || (groups & EventSink::kMarks) != 0;
}

/// Timelines have the node in `name` of the arguments, with its op type after it where the event is named "unknown".
void EventReading::read_node(const ChromeEvent& event, TraceEvent& handed_on) {
  for (const JsonMember& member : event.arguments) arguments_.add(member);
  const std::string_view node = arguments_.text_of("name");
  const std::string_view op = arguments_.text_of("op");
  if (node.empty()) return;
  handed_on.is_repeat = document_.repeats.contains(event.name, node, {event.start, event.start + event.duration});
  handed_on.name = node;
  handed_on.short_name = event.name;
  const bool has_type = classify_event(node) == EventKind::iterator || !op_type_of(node).empty();
  if (has_type || op.empty() || op == "unknown") return;
  std::string& typed = arguments_.new_text();
  typed.assign(node).append(":").append(op);
  handed_on.name = typed;
}

/// Neighbours in a file are mostly of one thread.
[[gnu::always_inline]] inline const EventLine& EventReading::line_of(const ChromeEvent& event) {
  if (line_ != nullptr && line_->id == event.thread && line_process_ == event.process) return *line_;
  line_process_ = event.process;
  line_ = &lines_.line_of(event.process, event.thread);
  return *line_;
}

void EventReading::take(const ChromeEvent& event) {
  TraceEvent handed_on;
  handed_on.line = &line_of(event);
  handed_on.name = event.name;
  handed_on.start = event.start;
  handed_on.duration = event.duration;
  ++totals_.event_count;
  ++totals_.timed_count;
  const LineKind kind = handed_on.line->kind;
  if (is_for_trace_ && (handed_on.line->plane->kind != PlaneKind::host || kind == LineKind::derived)) return;
  arguments_.begin();
  const bool is_chrome = document_.dialect == Dialect::chrome;
  if (!is_chrome) {
    read_node(event, handed_on);
  } else if (is_for_trace_ && kind == LineKind::steps) {
    // A step that was derived has nothing but its number, which is its name.
  } else if (!read_used(event, handed_on)) {
    return;
  }
  const char* const fault = (is_chrome ? time_fault : timeline_time_fault)(event.start, event.duration);
  if (fault != nullptr) return totals_.loss.add(fault);
  handed_on.arguments = arguments_.arguments();
  sink_.take(handed_on);
}

bool ChromeLines::is_among_wanted(std::uint64_t process) {
  const ChromeProcess& known = threads_.process(process);
  return !known.is_annotation && (wanted_ != WantedPlanes::devices || known.kind == PlaneKind::device);
}

void ChromeLines::learn(const JsonEvent& event) {
  threads_.take_metadata(event);
  if (event.name != "thread_name") return;
  const ChromeThread& named = threads_.thread(event.process, event.thread);
  if (named.lane != kNoLane) lines_[index_of(named.lane)].name = named.name();
}

const EventLine& ChromeLines::line_of(std::uint64_t process, std::uint64_t thread) {
  ChromeThread& known = threads_.thread(process, thread);
  if (known.lane != kNoLane) return lines_[index_of(known.lane)];
  known.lane = static_cast<LaneId>(lines_.size());
  EventLine& line = lines_.emplace_back();
  line.plane = &plane_of(*known.process);
  line.name = known.name();
  line.kind = kind_of_line(*line.plane, line.name);
  if (line.plane->kind == PlaneKind::host && known.is_derived) line.kind = LineKind::derived;
  if (line.plane->kind == PlaneKind::host && known.is_step_line) line.kind = LineKind::steps;
  line.id = known.id;
  line.index = lines_.size() - 1;
  return line;
}

const EventPlane& ChromeLines::plane_of(ChromeProcess& process) {
  if (process.plane != nullptr) return *process.plane;
  EventPlane& plane = planes_.emplace_back();
  const std::string_view title = process.name;
  const std::optional<std::string> accelerator = accelerator_of(title);
  plane.title = title;
  plane.kind = process.kind;
  plane.id = process.id;
  plane.index = planes_.size() - 1;
  // "name /host:CPU" and "name /device:GPU:0" where a trace has several hosts.
  const std::string_view host = title.substr(0, std::min(title.find(" /"), title.size()));
  if (threads_.has_host(host)) plane.host = host;
  plane.name = accelerator ? *accelerator : title.substr(plane.host.empty() ? 0 : plane.host.size() + 1);
  threads_.list_device(process);
  process.plane = &plane;
  return plane;
}

}  // namespace doctor
