#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzing.h"
#include "io/byte_source.h"
#include "read_one_format.h"
#include "trace/format.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

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

/// Names of all kinds that a trace keeps, and of others.
constexpr std::array<std::string_view, 23> kNames = {"Iterator::Root::Map",
                                                     "e2",
                                                     "IteratorGetNext",
                                                     "InstantiatedCapturedFunction::Run",
                                                     "PrefetchProduce",
                                                     "PrefetchConsume",
                                                     "ExecutorState::Process",
                                                     "MakeIterator",
                                                     "ThreadpoolListener::Record",
                                                     "ThreadpoolListener::StartRegion",
                                                     "ThreadpoolListener::StopRegion",
                                                     "TFE_Py_Execute",
                                                     "EagerExecute: f",
                                                     "TFE_DeleteTensorHandle",
                                                     "dense/MatMul:MatMul",
                                                     "tf.function-graph_building",
                                                     "EagerLocalExecute: SaveV2",
                                                     "$dataset_ops.py:4775 __next__",
                                                     "$train.py:16 __getitem__",
                                                     "ThunkExecutor::Execute",
                                                     "e21",
                                                     "Iterator::Root::Map::Range",
                                                     "train"};

/// Statistics of all uses, and of none.
constexpr std::array<std::string_view, 25> kStats = {
    "id",           "parent_id", "element_id", "name", "_p",        "_c",         "parallelism",
    "buffer_size",  "s9",        "s10",        "id",   "parent_id", "autotune",   "name",
    "algorithm",    "s16",       "s17",        "s18",  "step_num",  "element_id", "deterministic",
    "cycle_length", "shapes",    "types",      "s25"};

/// An XSpace whose events have these names and statistics, and one with an id of two bytes. `before` is put before each
/// event.
std::string xspace_of(const std::vector<std::string>& events, std::string_view before, bool has_step_numbers) {
  std::string plane;
  append_message(plane, kPlaneName, "/host:CPU");
  for (unsigned id = 1; id < 24; ++id) append_name(plane, kEventMetadata, id, std::string(kNames[id - 1]));
  for (unsigned id = 1; id < 26; ++id) {
    const std::string_view name = kStats[id - 1];
    append_name(plane, kStatMetadata, id, std::string(name == "step_num" && !has_step_numbers ? "s19" : name));
  }
  append_name(plane, kStatMetadata, 300, "id");
  std::string line;
  for (const std::string& event : events) append_message(line, kEvent, std::string(before) + event);
  append_message(plane, kLine, line);
  std::string space;
  append_message(space, kPlane, plane);
  return space;
}

/// A field that nobody knows: the reader of any event takes events that begin with it.
constexpr std::string_view kUnknownField("\x78\x00", 2);

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
  EventUse use_of(std::string_view name) override {
    if (looks_at_all_) return {};
    return {!name.empty() && name.back() % 2 == 0, static_cast<ArgumentGroups>(name.empty() ? 3 : name.back() % 4)};
  }

 private:
  bool looks_at_all_;
};

/// The events for pages and conversions: those that are read without a check at each number, and the same behind a
/// field that nobody knows.
void compare_all_events(const std::vector<std::string>& events, bool looks_at_all) {
  TextSink found(looks_at_all);
  TextSink expected(looks_at_all);
  const std::string usual_bytes = xspace_of(events, {}, true);
  const std::string odd_bytes = xspace_of(events, kUnknownField, true);
  const auto usual = memory_source(usual_bytes, "usual");
  const auto odd = memory_source(odd_bytes, "odd");
  const Result<EventTotals> of_usual = read_xspace(*usual, found);
  const Result<EventTotals> of_odd = read_xspace(*odd, expected);
  expect(of_usual.has_value() == of_odd.has_value(), "one of the readings fails");
  if (!of_usual) return;
  expect(found.taken == expected.taken, "events with all they carry differ");
  expect(found.marked <= expected.marked, "an event is marked that is not");
  expect(of_usual->event_count == of_odd->event_count, "counts of all events differ");
  expect(of_usual->loss.counts == of_odd->loss.counts, "losses among all events differ");
}

/// What a trace keeps of the same two.
void compare_traces(const std::vector<std::string>& events, bool has_step_numbers, bool with_history) {
  const auto trace_of = [&](std::string_view before) {
    const std::string bytes = xspace_of(events, before, has_step_numbers);
    return read_one_format(read_xspace, *memory_source(bytes, "fuzz"), {}, with_history);
  };
  const Result<Trace> usual = trace_of({});
  const Result<Trace> odd = trace_of(kUnknownField);
  expect(usual.has_value() == odd.has_value(), "one of the readings fails");
  if (!usual) return;
  expect(usual->event_count == odd->event_count, "counts differ");
  expect(usual->iterator_event_count == odd->iterator_event_count, "counts of iterators differ");
  expect(usual->compile_and_output_count == odd->compile_and_output_count, "counts of the second reading differ");
  expect(usual->loss.counts == odd->loss.counts, "losses differ");
  expect(usual->window == odd->window, "windows differ");
  expect(usual->queue.closures == odd->queue.closures, "queued closures differ");
  expect(usual->steps.size() == odd->steps.size(), "steps differ");
  expect(usual->attribute_tracks.size() == odd->attribute_tracks.size(), "histories differ");
  expect(usual->instances.size() == odd->instances.size(), "instances differ");
  for (std::size_t index = 0; index < usual->instances.size(); ++index) {
    const IteratorInstance& a = usual->instances[index];
    const IteratorInstance& b = odd->instances[index];
    const bool is_same = a.long_name == b.long_name && a.id == b.id && a.parent_id == b.parent_id &&
                         a.first_start == b.first_start && a.last_start == b.last_start &&
                         a.event_count == b.event_count && a.attributes == b.attributes;
    expect(is_same, "an instance differs");
  }
}

}  // namespace
}  // namespace doctor

/// Events of an XSpace as profilers write them or not, which are read without a check at each number, and the same
/// events so that the reader of any event takes them: both find the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  FuzzBytes choices(data, size);
  const unsigned options = choices.byte();
  const bool with_history = (options & 1) != 0;
  const bool has_step_numbers = (options & 2) != 0;
  const bool looks_at_all = (options & 4) != 0;
  const bool is_whole = (options & 8) != 0;
  std::vector<std::string> events;
  while (!choices.is_at_end()) events.push_back(pick_event(choices, is_whole));
  // Damage in what is not looked at may be overlooked.
  if (is_whole) compare_traces(events, has_step_numbers, with_history);
  if (looks_at_all || is_whole) compare_all_events(events, looks_at_all);
  return 0;
}
