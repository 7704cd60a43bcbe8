#include "trace/trace_builder.h"

#include <doctest/doctest.h>

using namespace doctor;

namespace {

/// Adds events to one lane of a builder by name and time, in nanoseconds.
struct Lines {
  TraceBuilder builder;
  LaneId lane;

  explicit Lines(TraceBuilder::Order order = TraceBuilder::Order::sorted) : builder(order), lane(builder.lane(1, 1)) {}

  void add(std::string_view name, Picoseconds start, Picoseconds duration, std::optional<std::uint64_t> id = {}) {
    RawEvent event;
    event.kind = classify_event(name);
    event.name = builder.intern(name);
    event.start = start * 1000;
    event.duration = duration * 1000;
    if (event.kind == EventKind::produce || event.kind == EventKind::consume) {
      event.element_id = id;
    } else {
      event.id = id;
    }
    builder.add(lane, event);
  }
};

std::string name_of(const Trace& trace, const IteratorCall& call) {
  return std::string(trace.strings[trace.instances[index_of(call.instance)].long_name]);
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
  CHECK(calls[0].subtree_end == 4);
  CHECK(calls[1].subtree_end == 4);
  CHECK(calls[2].subtree_end == 3);
  CHECK(calls[3].subtree_end == 4);
  CHECK(calls[4].subtree_end == 5);
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
  CHECK(trace.lanes[0].iterator_calls[0].subtree_end == 2);
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
  CHECK(trace.lanes[0].iterator_calls[0].subtree_end >= 1);
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
  CHECK(trace.lanes[0].iterator_calls[0].subtree_end == 2);
}

TEST_CASE("impossible times are counted and dropped") {
  Lines lines;
  lines.add("Iterator::Root", 0, -5);
  lines.add("Iterator::Root", PackedSpan::kMaxStart / 1000 + 1, 5);
  lines.add("Iterator::Root", 0, 5);
  const Trace trace = lines.builder.finish();
  CHECK(trace.event_count == 3);
  CHECK(trace.iterator_event_count == 1);
  CHECK(trace.loss.counts.at("events_negative_duration") == 1);
  CHECK(trace.loss.counts.at("events_outside_time_range") == 1);
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
  REQUIRE(lane.produced.size() == 1);
  CHECK(lane.produced[0].element_id.value() == 7);
  CHECK(lane.produced[0].row == 0);
  REQUIRE(lane.produced[0].last_run == 0);
  CHECK(lane.function_runs[0].function_id.value() == 99);
  CHECK(lane.function_runs[0].row == kNoRow);
  REQUIRE(lane.consumed.size() == 1);
  CHECK(lane.consumed[0].row == 1);
}

TEST_CASE("taken elements are sorted by the call that takes them") {
  Lines lines;
  lines.add("Iterator::Root", 0, 100);
  lines.add("ParallelMapConsume", 1, 1, 1);
  lines.add("Iterator::Root::ParallelMapV2", 10, 20);
  lines.add("ParallelMapConsume", 12, 1, 2);
  lines.add("ParallelMapConsume", 50, 1, 3);
  const Trace trace = lines.builder.finish();
  const auto& consumed = trace.lanes[0].consumed;
  REQUIRE(consumed.size() == 3);
  CHECK(consumed[0].element_id.value() == 1);
  CHECK(consumed[1].element_id.value() == 3);
  CHECK(consumed[2].element_id.value() == 2);
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
  for (const Row& row :
       {Row{"Iterator::Root::Map", EventKind::iterator}, Row{"TransformInputIterator", EventKind::other},
        Row{"aten::TensorIterator::build", EventKind::other}, Row{"IteratorGetNextOp::DoCompute", EventKind::get_next},
        Row{"IteratorGetNextAsOptionalOp::DoCompute", EventKind::get_next},
        Row{"IteratorGetNext:IteratorGetNext", EventKind::get_next},
        Row{"InstantiatedCapturedFunction::RunAsync", EventKind::captured_function},
        Row{"MapAndBatchProduce", EventKind::produce}, Row{"ParallelInterleaveConsume", EventKind::consume},
        Row{"ExecutorState::Process", EventKind::executor}, Row{"ExecutorState::ProcessAsync::Start", EventKind::other},
        Row{"MakeIteratorOp::DoCompute", EventKind::make_iterator}, Row{"model/dense/MatMul:MatMul", EventKind::op},
        Row{"EagerLocalExecute: f", EventKind::other}, Row{"a:b:c", EventKind::other}, Row{":MatMul", EventKind::other},
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
