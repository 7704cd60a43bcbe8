#include "trace/trace_builder.h"

#include <doctest/doctest.h>

#include "trace/torn.h"

namespace doctor::trace_builder_test {
namespace {

/// Adds events to one lane of a builder by name and time, in nanoseconds.
struct Lines {
  TraceBuilder builder;
  LaneId lane;

  explicit Lines(TraceBuilder::Order order = TraceBuilder::Order::sorted) : builder(order), lane(builder.lane(1, 1)) {}

  void add(std::string_view name, Picoseconds start, Picoseconds duration, std::optional<std::uint64_t> id = {}) {
    LaneEvent event;
    event.kind = classify_event(name);
    event.start = start * 1000;
    event.duration = duration * 1000;
    event.id = id.value_or(0);
    event.name_length = name_length_of(name);
    if (event.kind == EventKind::op) {
      event.subject = static_cast<std::uint32_t>(builder.intern(op_type_of(name)));
    } else if (event.kind == EventKind::iterator) {
      const InstanceSighting sighting{builder.intern(name), {}, id, {}, event.start, event.start, 1, {}};
      event.subject = static_cast<std::uint32_t>(builder.see(sighting));
    }
    builder.add(lane, std::span(&event, 1));
  }
};

std::string name_of(const Trace& trace, const IteratorCall& call) {
  return std::string(trace.strings[trace.instances[call.instance].long_name]);
}

}  // namespace

TEST_CASE("calls are nested in pre-order with the end of their subtree") {
  Lines lines;
  lines.add("Iterator::Root", 0, 100);
  lines.add("Iterator::Root::BatchV2", 5, 90);
  lines.add("Iterator::Root::BatchV2::Map", 10, 20);
  lines.add("Iterator::Root::BatchV2::Map", 40, 20);
  lines.add("Iterator::Root", 200, 10);
  const Trace trace = lines.builder.finish();
  const auto& calls = trace.lanes[0].iterator_calls;
  REQUIRE(calls.size() == 5);
  CHECK(calls.subtree_end(0) == 4);
  CHECK(calls.subtree_end(1) == 4);
  CHECK(calls.subtree_end(2) == 3);
  CHECK(calls.subtree_end(3) == 4);
  CHECK(calls.subtree_end(4) == 5);
  CHECK(trace.instances.size() == 3);
  CHECK(trace.iterator_event_count == 5);
  CHECK(trace.window == Interval{0, 210'000});
}

TEST_CASE("equal starts are nested longest first, whatever their order in the file") {
  Lines lines;
  lines.add("Iterator::Root::BatchV2", 0, 50);
  lines.add("IteratorGetNextOp::DoCompute", 0, 100);
  lines.add("Iterator::Root", 0, 100);
  const Trace trace = lines.builder.finish();
  REQUIRE(trace.lanes[0].iterator_calls.size() == 2);
  CHECK(name_of(trace, trace.lanes[0].iterator_calls[0]) == "Iterator::Root");
  CHECK(trace.lanes[0].iterator_calls.subtree_end(0) == 2);
  REQUIRE(trace.lanes[0].get_next_calls.size() == 1);
  CHECK(trace.lanes[0].get_next_calls[0].first_row == 0);
  CHECK(trace.lanes[0].get_next_calls[0].end_row == 2);
}

TEST_CASE("only the outermost GetNext op counts") {
  Lines lines;
  lines.add("IteratorGetNext:IteratorGetNext", 0, 100);
  lines.add("IteratorGetNextOp::DoCompute", 10, 80);
  lines.add("Iterator::Model", 20, 60);
  const Trace trace = lines.builder.finish();
  REQUIRE(trace.lanes[0].get_next_calls.size() == 1);
  CHECK(trace.lanes[0].get_next_calls[0].span.start() == 0);
  CHECK(trace.lanes[0].get_next_calls[0].end_row == 1);
}

TEST_CASE("an event of no duration at the end of another belongs to it") {
  Lines lines;
  lines.add("Iterator::Root", 0, 10);
  lines.add("Iterator::Root::Map", 10, 0);
  lines.add("Iterator::Root", 10, 5);
  const Trace trace = lines.builder.finish();
  CHECK(trace.lanes[0].iterator_calls.subtree_end(0) >= 1);
  CHECK(trace.lanes[0].iterator_calls.size() == 3);
}

TEST_CASE("a lane out of order is noticed, and read right with Order::any") {
  Lines sorted;
  Lines shuffled;
  Lines any(TraceBuilder::Order::any);
  sorted.add("Iterator::Root", 0, 100);
  sorted.add("Iterator::Root::Map", 10, 20);
  for (Lines* lines : {&shuffled, &any}) {
    lines->add("Iterator::Root::Map", 10, 20);
    lines->add("Iterator::Root", 0, 100);
  }
  CHECK_FALSE(sorted.builder.saw_disorder());
  CHECK(shuffled.builder.saw_disorder());
  CHECK_FALSE(any.builder.saw_disorder());
  const Trace trace = any.builder.finish();
  REQUIRE(trace.lanes[0].iterator_calls.size() == 2);
  CHECK(name_of(trace, trace.lanes[0].iterator_calls[0]) == "Iterator::Root");
  CHECK(trace.lanes[0].iterator_calls.subtree_end(0) == 2);
}

TEST_CASE("events that cannot be kept have a reason") {
  CHECK(time_fault(0, 0) == nullptr);
  CHECK(time_fault(PackedSpan::kMinStart, PackedSpan::kMaxDuration) == nullptr);
  CHECK(std::string_view(time_fault(0, -1)) == "events_negative_duration");
  CHECK(std::string_view(time_fault(PackedSpan::kMinStart - 1, 1)) == "events_outside_time_range");
  CHECK(std::string_view(time_fault(PackedSpan::kMaxStart + 1, 1)) == "events_outside_time_range");
  CHECK(std::string_view(time_fault(0, PackedSpan::kMaxDuration + 1)) == "events_outside_time_range");
}

TEST_CASE("calls of iterators beyond the most that are told apart count as those of one of their name") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  const auto see = [&](std::string_view name, std::uint64_t id) {
    return builder.see({builder.intern(name), {}, id, {}, 0, 0, 2, {}});
  };
  for (std::uint64_t id = 1; id <= kMostInstances; ++id) {
    REQUIRE(see(id < kMostInstances ? "Iterator::Map" : "Iterator::Batch", id) == static_cast<InstanceId>(id - 1));
  }
  CHECK(see("Iterator::Map", 7) == InstanceId{6});
  const auto last = static_cast<InstanceId>(kMostInstances - 1);
  CHECK(see("Iterator::Map", kMostInstances + 1) == InstanceId{0});
  CHECK(see("Iterator::Batch", kMostInstances + 2) == last);
  CHECK(see("Iterator::New", kMostInstances + 3) == last);
  const Trace trace = builder.finish();
  CHECK(trace.instances.size() == kMostInstances);
  CHECK(trace.instances.front().event_count == 4);
  CHECK(trace.instances.back().event_count == 6);
  CHECK(trace.loss.counts == std::map<std::string, std::uint64_t>{{"calls_of_too_many_iterators", 6}});
  CHECK(trace.loss.notes.size() == 1);
}

TEST_CASE("names beyond the most that are kept are one") {
  StringTable strings;
  for (std::size_t number = 0; strings.size() < StringTable::kMostStrings - 1; ++number) {
    strings.intern(std::to_string(number));
  }
  CHECK(strings.refused() == 0);
  const StringId others = strings.intern("a");
  CHECK(strings[others] == "…");
  CHECK(strings.intern("b") == others);
  CHECK(strings.intern("…") == others);
  CHECK(strings[strings.intern("17")] == "17");
  CHECK(strings.size() == StringTable::kMostStrings);
  CHECK(strings.refused() == 2);
}

TEST_CASE("every text is kept once, and stays where it is while others are added and the table moves") {
  StringTable strings;
  CHECK(strings.intern("") == StringId{});
  CHECK(strings[StringId{}].data() != nullptr);
  std::vector<std::string> texts;
  for (std::size_t number = 1; number < 5'000; ++number) {
    const std::size_t length = number % 1'000 == 0 ? kLongestName - number / 1'000 : number % 61;
    texts.push_back(std::to_string(number) + std::string(length, static_cast<char>('a' + number % 26)));
  }
  std::vector<std::string_view> kept;
  for (const std::string& text : texts) {
    const StringId id = strings.intern(text);
    kept.push_back(strings[id]);
    REQUIRE(kept.size() == index_of(id));
    REQUIRE(strings.intern(text) == id);
  }
  StringTable moved = std::move(strings);
  for (std::size_t index = 0; index < texts.size(); ++index) {
    REQUIRE(kept[index] == shortened_name(texts[index]));
    REQUIRE(moved[static_cast<StringId>(index + 1)].data() == kept[index].data());
    REQUIRE(index_of(moved.intern(texts[index])) == index + 1);
  }
  CHECK(moved.size() == texts.size() + 1);
  CHECK(moved.refused() == 0);
}

TEST_CASE("the events of threads beyond the most that are kept are lost, and counted") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  LaneEvent event;
  event.kind = EventKind::get_next;
  event.duration = kPicosecondsPerMicrosecond;
  for (std::uint64_t thread = 0; thread < kMostLanes + 2; ++thread) {
    const LaneId lane = builder.lane(1, thread);
    REQUIRE((lane == kNoLane) == (thread >= kMostLanes));
    if (lane == kNoLane) {
      builder.lose_events_of_thread(3);
    } else {
      builder.add(lane, std::span(&event, 1));
    }
  }
  CHECK(builder.lane(1, 5) == LaneId{5});
  const Trace trace = builder.finish();
  CHECK(trace.lanes.size() == kMostLanes);
  CHECK(trace.lanes.back().get_next_calls.size() == 1);
  CHECK(trace.event_count == kMostLanes + 6);
  CHECK(trace.loss.counts == std::map<std::string, std::uint64_t>{{"events_of_too_many_threads", 6}});
  CHECK(trace.loss.notes.size() == 1);
  CHECK(is_torn(trace.loss));
}

TEST_CASE("a name ends where it is longer than any real one, between two characters") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  const std::string longest(kLongestName, 'x');
  // "…" takes three bytes; of the character at its place the first would be left.
  const std::string kept(kLongestName - 4, 'x');
  const std::string odd = kept + "\xc3\xa9" + std::string(10, 'x');
  const StringId whole = builder.intern(longest);
  const StringId cut = builder.intern(odd);
  const StringId nothing_but_continuations = builder.intern(std::string(kLongestName + 1, '\x80'));
  const Trace trace = builder.finish();
  CHECK(trace.strings[whole] == longest);
  CHECK(trace.strings[cut] == kept + "…");
  CHECK(trace.strings[nothing_but_continuations].size() == kLongestName - 3);
}

TEST_CASE("of each attribute the value seen last counts, whatever the order of the sightings") {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  const StringId size = builder.intern("buffer_size");
  const auto see = [&](Picoseconds start, std::int64_t value) {
    const SeenAttribute attribute{{size, true, value, {}}, start};
    InstanceSighting sighting;
    sighting.long_name = builder.intern("Iterator::Root::Prefetch");
    sighting.id = 7;
    sighting.first_start = sighting.last_start = start;
    sighting.event_count = 2;
    sighting.attributes = std::span(&attribute, 1);
    return builder.see(sighting);
  };
  CHECK(see(50, 1) == see(90, 2));
  see(70, 3);  // of another thread, which the file holds later
  const Trace trace = builder.finish();
  REQUIRE(trace.instances.size() == 1);
  CHECK(trace.instances[0].event_count == 6);
  CHECK(trace.instances[0].first_start == 50);
  CHECK(trace.instances[0].last_start == 90);
  REQUIRE(trace.instances[0].attributes.size() == 1);
  CHECK(trace.instances[0].attributes[0].number == 2);
}

TEST_CASE("it does not matter how the events of a lane are handed over in pieces") {
  const auto iterator = [](std::uint32_t subject, std::uint16_t length, Picoseconds start, Picoseconds duration) {
    LaneEvent event;
    event.kind = EventKind::iterator;
    event.subject = subject;
    event.name_length = length;
    event.start = start;
    event.duration = duration;
    return event;
  };
  // Three calls start at one time, in the wrong order; a fourth follows.
  const std::vector<LaneEvent> events = {iterator(2, 30, 10, 50), iterator(1, 20, 10, 50), iterator(0, 10, 10, 80),
                                         iterator(0, 10, 100, 5)};
  for (std::size_t cut = 0; cut <= events.size(); ++cut) {
    CAPTURE(cut);
    TraceBuilder builder(TraceBuilder::Order::sorted);
    for (const char* const name : {"a", "b", "c"}) {
      builder.see({builder.intern(name), {}, {}, {}, 0, 0, 1, {}});
    }
    const LaneId lane = builder.lane(1, 1);
    builder.add(lane, std::span(events).first(cut));
    builder.add(lane, std::span(events).subspan(cut));
    CHECK_FALSE(builder.saw_disorder());
    const Trace trace = builder.finish();
    const IteratorCalls& calls = trace.lanes[0].iterator_calls;
    REQUIRE(calls.size() == 4);
    for (std::uint32_t row = 0; row < 3; ++row) {
      CHECK(index_of(calls[row].instance) == row);
      CHECK(calls.subtree_end(row) == 3);
    }
    CHECK(calls.subtree_end(3) == 4);
  }
}

TEST_CASE("elements are tied to the call that fetched the input and to the last function run") {
  Lines lines;
  lines.add("ParallelMapProduce", 0, 50, 7);
  lines.add("Iterator::Root::ParallelMapV2::Range", 5, 10, 3);
  lines.add("InstantiatedCapturedFunction::RunAsync", 20, 5, 99);
  lines.add("Iterator::Root::ParallelMapV2", 100, 50, 2);
  lines.add("ParallelMapConsume", 110, 1, 7);
  const Trace trace = lines.builder.finish();
  const Lane& lane = trace.lanes[0];
  REQUIRE(trace.produced.size() == 1);
  CHECK(trace.produced[0].row == 0);
  REQUIRE(trace.produced[0].last_run == 0);
  CHECK(lane.function_runs[0].function_id.value() == 99);
  CHECK(lane.function_runs[0].row == kNoRow);
  REQUIRE(lane.consumed.size() == 1);
  CHECK(lane.consumed[0].element == 0);
  CHECK(lane.consumed[0].row == 1);
}

TEST_CASE("ops carry the id of the executor around them, else of the function run") {
  Lines lines;
  lines.add("add:AddV2", 0, 1);
  lines.add("InstantiatedCapturedFunction::Run", 10, 50, 5);
  lines.add("mul:Mul", 11, 1);
  lines.add("ExecutorState::Process", 20, 20, 6);
  lines.add("m/MatMul:_MklMatMul", 21, 10);
  lines.add("InstantiatedCapturedFunction::Run", 33, 5, 8);  // called by the executor's function: its ops are its own
  lines.add("sub:Sub", 34, 1);
  const Trace trace = lines.builder.finish();
  const auto& ops = trace.lanes[0].ops;
  REQUIRE(ops.size() == 4);
  CHECK(ops[3].function_id.value() == 6);
  CHECK(ops[0].function_id.value() == 0);
  CHECK(ops[1].function_id.value() == 5);
  CHECK(ops[2].function_id.value() == 6);
  CHECK(trace.strings[ops[2].type] == "_MklMatMul");
}

TEST_CASE("regions are kept on compute threads only") {
  for (const auto& [name, expected] : {std::pair{"tf_numa_-1_Eigen/12", 1u}, std::pair{"tf_Compute/3", 0u}}) {
    Lines lines;
    lines.builder.name_lane(lines.lane, name);
    lines.add("ThreadpoolListener::StartRegion", 0, 0);
    lines.add("ThreadpoolListener::StopRegion", 30, 0);
    lines.add("ThreadpoolListener::StopRegion", 40, 0);
    const Trace trace = lines.builder.finish();
    CHECK(trace.lanes[0].pool_regions.size() == expected);
  }
}

TEST_CASE("event names are told apart by prefix") {
  struct Row {
    std::string_view name;
    EventKind kind;
  };
  for (const Row& row : {Row{"Iterator::Root::Map", EventKind::iterator},
                         Row{"TransformInputIterator", EventKind::other},
                         Row{"aten::TensorIterator::build", EventKind::other},
                         Row{"IteratorGetNextOp::DoCompute", EventKind::get_next},
                         Row{"IteratorGetNextAsOptionalOp::DoCompute", EventKind::get_next},
                         Row{"IteratorGetNext:IteratorGetNext", EventKind::get_next},
                         Row{"while/body/get_next:IteratorGetNextSync", EventKind::get_next},
                         Row{"IteratorGetNextAsOptional_4/_41:_Recv", EventKind::op},
                         Row{"InstantiatedCapturedFunction::RunAsync", EventKind::captured_function},
                         Row{"ThreadpoolListener::Record", EventKind::region_queued},
                         Row{"ThreadpoolListener::Other", EventKind::other},
                         Row{"MapAndBatchProduce", EventKind::produce},
                         Row{"ParallelInterleaveConsume", EventKind::consume},
                         Row{"ExecutorState::Process", EventKind::executor},
                         Row{"ExecutorState::ProcessAsync::Start", EventKind::other},
                         Row{"MakeIteratorOp::DoCompute", EventKind::make_iterator},
                         Row{"model/dense/MatMul:MatMul", EventKind::op},
                         Row{"EagerLocalExecute: f", EventKind::other},
                         Row{"a:b:c", EventKind::other},
                         Row{":MatMul", EventKind::other},
                         Row{"", EventKind::other}}) {
    CAPTURE(row.name);
    CHECK(classify_event(row.name) == row.kind);
  }
}

TEST_CASE("packed spans are exact where traces are") {
  for (const Picoseconds start :
       {Picoseconds{0}, Picoseconds{1}, Picoseconds{-123'456'789}, PackedSpan::kMaxStart, PackedSpan::kMinStart}) {
    for (const Picoseconds duration :
         {Picoseconds{0}, Picoseconds{1}, Picoseconds{274'877'906'943}, Picoseconds{274'877'907'000},
          250 * kPicosecondsPerSecond, PackedSpan::kMaxDuration}) {
      const PackedSpan span(start, duration);
      CHECK(span.start() == start);
      CHECK(span.duration() == duration);
    }
  }
  CHECK(PackedSpan(0, kPicosecondsPerSecond + 999).duration() == kPicosecondsPerSecond);
}

}  // namespace doctor::trace_builder_test
