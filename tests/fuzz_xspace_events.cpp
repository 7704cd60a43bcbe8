#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzing.h"
#include "io/byte_source.h"
#include "trace/format.h"
#include "trace/xspace/xspace_events.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

/// A plane with an event name of each kind and statistics of each role, ids counted from 1. One statistic has an id of
/// two bytes, which only the reader of any event knows.
PlaneNames plane_of_all_kinds(bool has_step_numbers) {
  PlaneNames plane;
  plane.has_step_numbers = has_step_numbers;
  for (unsigned kind = 0; kind <= static_cast<unsigned>(EventKind::program_run); ++kind) {
    plane.events[kind + 1] = {static_cast<EventKind>(kind), static_cast<std::uint16_t>(kind + 3), StringId{kind}};
  }
  plane.events[static_cast<unsigned>(EventKind::step)] = {EventKind::iterator, 9, StringId{77}};
  constexpr unsigned kRoles = static_cast<unsigned>(StatRole::closure) + 1;
  plane.stat_roles.assign(3 * kRoles, StatRole::unused);
  for (unsigned id = 1; id < 3 * kRoles; ++id) {
    plane.stat_roles[id] = static_cast<StatRole>(id % kRoles);
    plane.stats[id] = {"stat" + std::to_string(id), plane.stat_roles[id]};
  }
  plane.stats[300] = {"stat300", StatRole::id};
  return plane;
}

void append_tag(std::string& text, std::uint32_t field, WireType type) {
  text += static_cast<char>(field << 3 | static_cast<std::uint32_t>(type));
}

/// A number as protobuf writes it, or with zero groups after it, which means the same.
void append_varint(std::string& text, std::uint64_t value, unsigned zero_groups = 0) {
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  for (; zero_groups > 0; --zero_groups, value = 0) text += static_cast<char>(value | 0x80);
  text += static_cast<char>(value);
}

std::uint64_t pick_number(FuzzBytes& choices) {
  const unsigned size = choices.below(10);
  std::uint64_t value = 0;
  for (unsigned count = 0; count < size; ++count) value = value << 8 | choices.byte();
  return value;
}

void append_number(std::string& text, FuzzBytes& choices, bool is_whole) {
  const unsigned zero_groups = is_whole ? 0 : choices.below(16);
  append_varint(text, pick_number(choices), zero_groups > 12 ? zero_groups - 12 : 0);
}

void append_stat(std::string& event, FuzzBytes& choices, bool is_whole) {
  std::string stat;
  append_tag(stat, kMetadataId, WireType::varint);
  append_varint(stat, choices.below(32) == 31 ? 300 : choices.below(26));
  constexpr std::uint32_t kValues[] = {kSignedValue, kUnsignedValue, kSignedValue, kReference, 2, 5};
  const std::uint32_t field = choices.pick(kValues);
  const bool is_text = field == 5;
  append_tag(stat, field, is_text ? WireType::bytes : field == 2 ? WireType::fixed64 : WireType::varint);
  if (is_text) {
    const std::string_view text = choices.text(choices.below(12));
    append_varint(stat, text.size());
    stat += text;
  } else if (field == 2) {
    stat.append(8, 'x');
  } else {
    append_number(stat, choices, is_whole);
  }
  if (choices.below(16) == 15 && !is_whole) stat += choices.text(choices.below(8));
  append_tag(event, kStat, WireType::bytes);
  const unsigned wrong = is_whole ? 0 : choices.below(32);
  append_varint(event, wrong == 31 ? stat.size() + 1 : wrong == 30 ? choices.byte() : stat.size());
  event += stat;
}

/// An event, mostly as profilers write it. One that is whole has nothing that is no field, and statistics of one id.
std::string pick_event(FuzzBytes& choices, bool is_whole) {
  std::string event;
  while (!choices.is_at_end()) {
    switch (choices.below(8)) {
      case 0:
        return event;
      case 1:
        append_tag(event, kMetadataId, WireType::varint);
        append_varint(event, choices.below(24));
        break;
      case 2:
        append_tag(event, kOffset, WireType::varint);
        append_number(event, choices, is_whole);
        break;
      case 3:
        append_tag(event, kDuration, WireType::varint);
        append_number(event, choices, is_whole);
        break;
      case 4:
        if (!is_whole) event += choices.text(choices.below(16));
        break;
      default:
        append_stat(event, choices, is_whole);
        break;
    }
  }
  return event;
}

bool same(const WireField& a, const WireField& b) {
  return a.tag == b.tag && a.number == b.number && a.data == b.data;
}

bool same(const LaneEvent& a, const LaneEvent& b) {
  return a.start == b.start && a.duration == b.duration && a.id == b.id && a.subject == b.subject &&
         a.name_length == b.name_length && a.kind == b.kind;
}

bool same(const RawStat& a, const RawStat& b) {
  return a.stat == b.stat && same(a.value, b.value) && a.seen == b.seen;
}

bool same(const CarriedAttributes& a, const CarriedAttributes& b) {
  return a.event == b.event && a.end == b.end;
}

bool same(const QueuedEvent& a, const QueuedEvent& b) {
  return a.id == b.id && a.start == b.start && a.place == b.place;
}

bool same(const RawSighting& a, const RawSighting& b);

template <typename Row>
bool all_same(const std::vector<Row>& a, const std::vector<Row>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Row& x, const Row& y) { return same(x, y); });
}

bool same(const RawSighting& a, const RawSighting& b) {
  return a.long_name == b.long_name && a.id == b.id && a.parent_id == b.parent_id &&
         same(a.dataset_name, b.dataset_name) && a.first_start == b.first_start && a.last_start == b.last_start &&
         a.event_count == b.event_count && all_same(a.attributes, b.attributes);
}

void append_message(std::string& text, std::uint32_t field, std::string_view message) {
  append_tag(text, field, WireType::bytes);
  append_varint(text, message.size());
  text += message;
}

/// An entry of a map of names.
void append_name(std::string& plane, std::uint32_t field, unsigned id, const std::string& name) {
  std::string metadata;
  append_message(metadata, kName, name);
  std::string entry;
  append_tag(entry, 1, WireType::varint);
  append_varint(entry, id);
  append_message(entry, 2, metadata);
  append_message(plane, field, entry);
}

/// An XSpace whose events have the names e1 to e23, and statistics s1 to s25 and s300. `before` is put before each.
std::string xspace_of(const std::vector<std::string>& events, std::string_view before) {
  std::string plane;
  append_message(plane, kPlaneName, "/host:CPU");
  for (unsigned id = 1; id < 24; ++id) append_name(plane, kEventMetadata, id, "e" + std::to_string(id));
  for (unsigned id = 1; id < 26; ++id) append_name(plane, kStatMetadata, id, "s" + std::to_string(id));
  append_name(plane, kStatMetadata, 300, "s300");
  std::string line;
  for (const std::string& event : events) append_message(line, kEvent, std::string(before) + event);
  append_message(plane, kLine, line);
  std::string space;
  append_message(space, kPlane, plane);
  return space;
}

/// Keeps what it is given, as text.
class TextSink final : public EventSink {
 public:
  explicit TextSink(bool looks_at_all) : looks_at_all_(looks_at_all) {}

  std::vector<std::string> taken;
  std::size_t marked = 0;  ///< events that are taken for a mark alone

  void take(const TraceEvent& event) override {
    if (!use_of(event.name).is_taken) {
      ++marked;
      return;
    }
    std::string text(event.name);
    text += ' ' + std::to_string(event.start) + ' ' + std::to_string(event.duration);
    for (const EventArgument& argument : event.arguments) {
      text += ' ' + std::string(argument.name) + ' ' + std::to_string(static_cast<int>(argument.type)) + ' ' +
              std::string(argument.text) + ' ' + std::to_string(argument.text_number) + ' ' +
              std::to_string(argument.groups);
      if (argument.type != ArgumentType::text) text += ' ' + std::to_string(argument.unsigned_integer);
    }
    taken.push_back(text);
  }
  ArgumentGroups groups_of(std::string_view argument) const override {
    return looks_at_all_ ? kAllArguments : static_cast<ArgumentGroups>(argument.back() % 4);
  }
  EventUse use_of(std::string_view name) const override {
    if (looks_at_all_) return {};
    return {!name.empty() && name.back() % 2 == 0, static_cast<ArgumentGroups>(name.empty() ? 3 : name.back() % 4)};
  }

 private:
  bool looks_at_all_;
};

/// The events for pages and conversions: those that are read without a check at each number, and the same with a field
/// before them that nobody knows, so that the reader of any event takes them.
void compare_all_events(const std::vector<std::string>& events, bool looks_at_all) {
  constexpr std::string_view kUnknownField("\x78\x00", 2);
  TextSink found(looks_at_all);
  TextSink expected(looks_at_all);
  const std::string usual_bytes = xspace_of(events, {});
  const std::string odd_bytes = xspace_of(events, kUnknownField);
  const auto usual = memory_source(usual_bytes, "usual");
  const auto odd = memory_source(odd_bytes, "odd");
  const Result<EventTotals> of_usual = read_xspace_events(*usual, found);
  const Result<EventTotals> of_odd = read_xspace_events(*odd, expected);
  expect(of_usual.has_value() == of_odd.has_value(), "one of the readings fails");
  if (!of_usual) return;
  expect(found.taken == expected.taken, "events with all they carry differ");
  expect(found.marked <= expected.marked, "an event is marked that is not");
  expect(of_usual->event_count == of_odd->event_count, "counts of all events differ");
  expect(of_usual->loss.counts == of_odd->loss.counts, "losses among all events differ");
}

}  // namespace
}  // namespace doctor

/// Events of an XSpace as one part of a window, where they are read without a check at each number, and each as a part
/// of its own, after which nothing may be read, so that the reader of any event takes them: both find the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  static const std::vector<PlaneNames> planes = {plane_of_all_kinds(false), plane_of_all_kinds(true)};
  FuzzBytes choices(data, size);
  const unsigned options = choices.byte();
  const bool with_history = (options & 1) != 0;
  const bool looks_at_all = (options & 4) != 0;
  const bool is_whole = (options & 8) != 0;
  LinePart part;
  part.plane = options >> 1 & 1;
  part.line_start = 1000;
  std::string bytes;
  EventWindow apart;
  std::vector<std::string> events;
  while (!choices.is_at_end()) {
    const std::string& event = events.emplace_back(pick_event(choices, is_whole));
    part.begin = bytes.size();
    append_tag(bytes, kEvent, WireType::bytes);
    append_varint(bytes, event.size());
    bytes += event;
    part.end = bytes.size();
    apart.parts.push_back(part);
  }
  EventWindow together;
  part.begin = 0;
  together.parts.push_back(part);
  together.bytes.assign(bytes.begin(), bytes.end());
  static DecodedEvents expected;  // their memory is used again
  static DecodedEvents found;
  // The same bytes, so that what points into them can be compared.
  std::swap(apart.bytes, together.bytes);
  decode_events(apart, planes, with_history, expected);
  std::swap(apart.bytes, together.bytes);
  decode_events(together, planes, with_history, found);
  expect(all_same(expected.events, found.events), "events differ");
  expect(all_same(expected.instances.sightings(), found.instances.sightings()), "instances differ");
  expect(all_same(expected.carried, found.carried), "carried attributes differ");
  expect(all_same(expected.attributes, found.attributes), "attributes differ");
  expect(all_same(expected.queued, found.queued), "queued closures differ");
  expect(expected.compile_and_output_events == found.compile_and_output_events, "counts of the second reading differ");
  expect(expected.other_events == found.other_events, "counts of others differ");
  expect(expected.loss.counts == found.loss.counts, "losses differ");
  // Damage in what is not looked at may be overlooked.
  if (looks_at_all || is_whole) compare_all_events(events, looks_at_all);
  return 0;
}
