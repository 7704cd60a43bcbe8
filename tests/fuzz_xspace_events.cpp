#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzing.h"
#include "trace/xspace_events.h"
#include "trace/xspace_wire.h"

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

void append_number(std::string& text, FuzzBytes& choices) {
  const unsigned zero_groups = choices.below(16);
  append_varint(text, pick_number(choices), zero_groups > 12 ? zero_groups - 12 : 0);
}

void append_stat(std::string& event, FuzzBytes& choices) {
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
    append_number(stat, choices);
  }
  if (choices.below(16) == 15) stat += choices.text(choices.below(8));
  append_tag(event, kStat, WireType::bytes);
  const unsigned wrong = choices.below(32);
  append_varint(event, wrong == 31 ? stat.size() + 1 : wrong == 30 ? choices.byte() : stat.size());
  event += stat;
}

/// An event, mostly as profilers write it.
std::string pick_event(FuzzBytes& choices) {
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
        append_number(event, choices);
        break;
      case 3:
        append_tag(event, kDuration, WireType::varint);
        append_number(event, choices);
        break;
      case 4:
        event += choices.text(choices.below(16));
        break;
      default:
        append_stat(event, choices);
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
  LinePart part;
  part.plane = options >> 1 & 1;
  part.line_start = 1000;
  std::string bytes;
  EventWindow apart;
  while (!choices.is_at_end()) {
    const std::string event = pick_event(choices);
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
  return 0;
}
