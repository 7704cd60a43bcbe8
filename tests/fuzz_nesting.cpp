#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "fuzzing.h"
#include "trace/trace_builder.h"

namespace doctor {
namespace {

constexpr std::size_t kLanes = 2;
constexpr std::uint32_t kInstances = 4;

using LaneEvents = std::array<std::vector<LaneEvent>, kLanes>;

/// Events of two threads in order of start: in, beside and over one another, many at one time.
LaneEvents pick_events(FuzzBytes& choices) {
  constexpr Picoseconds kLengths[] = {0, 1, 2, 3, 5, 8, 100, kShortestLongRelease, PackedSpan::kMaxDuration};
  LaneEvents events;
  std::array<Picoseconds, kLanes> starts = {};
  while (!choices.is_at_end()) {
    const unsigned choice = choices.byte();
    const std::size_t lane = choice % kLanes;
    const unsigned step = choice / kLanes % 8;
    starts[lane] += step < 4 ? 0 : step - 3;
    LaneEvent event;
    event.start = starts[lane];
    event.duration = choices.pick(kLengths);
    const unsigned kinds = static_cast<unsigned>(EventKind::step);
    event.kind = static_cast<EventKind>(1 + choices.below(kinds));
    event.id = choices.below(4);
    event.subject = choices.below(kInstances);
    event.name_length = static_cast<std::uint16_t>(choices.below(3));
    events[lane].push_back(event);
  }
  return events;
}

/// Two threads, of which the first is of a compute pool, and what their events may refer to.
std::array<LaneId, kLanes> prepare(TraceBuilder& builder) {
  const std::array<LaneId, kLanes> lanes = {builder.add_lane(), builder.add_lane()};
  builder.name_lane(lanes[0], "tf_numa_-1_Eigen/1");
  for (std::uint32_t index = 0; index < kInstances; ++index) {
    InstanceSighting sighting;
    sighting.long_name = builder.intern(std::string("Iterator::Root") + static_cast<char>('a' + index));
    sighting.id = index + 1;
    sighting.event_count = 1;
    builder.see(sighting);
  }
  return lanes;
}

/// All at once, to be sorted: what is read of a trace whose threads are in no order.
Trace build_sorting(const LaneEvents& events) {
  TraceBuilder builder(TraceBuilder::Order::any);
  const std::array<LaneId, kLanes> lanes = prepare(builder);
  for (std::size_t lane = 0; lane < kLanes; ++lane) builder.add(lanes[lane], events[lane]);
  return builder.finish();
}

/// In pieces of any size, nested as they arrive.
Trace build_in_pieces(const LaneEvents& events, unsigned size) {
  TraceBuilder builder(TraceBuilder::Order::sorted);
  const std::array<LaneId, kLanes> lanes = prepare(builder);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::span<const LaneEvent> rest = events[lane];
    for (std::size_t piece = size; !rest.empty(); piece = piece % 7 + 1) {
      const std::span<const LaneEvent> next = rest.first(std::min(piece, rest.size()));
      builder.add(lanes[lane], next);
      rest = rest.subspan(next.size());
    }
  }
  expect(!builder.saw_disorder(), "events in order were taken for others");
  return builder.finish();
}

auto key_of(const PackedSpan& span) {
  return std::tuple(span.start(), span.duration());
}
auto key_of(const Interval& interval) {
  return std::tuple(interval.start, interval.end);
}
auto key_of(const IteratorCall& row) {
  return std::tuple(key_of(row.span), InstanceId{row.instance}, std::uint32_t{row.subtree_size});
}
auto key_of(const GetNextCall& row) {
  return std::tuple(key_of(row.span), row.first_row, row.end_row);
}
auto key_of(const FunctionRun& row) {
  return std::tuple(key_of(row.span), row.function_id.value(), row.row);
}
auto key_of(const ExecutorSpan& row) {
  return std::tuple(key_of(row.span), row.function_id.value(), row.event_count);
}
auto key_of(const PythonCall& row) {
  return std::tuple(key_of(row.span), row.ran_until);
}
auto key_of(const ProducedElement& row) {
  return std::tuple(LaneId{row.lane}, std::uint32_t{row.back}, row.row, row.last_run);
}
auto key_of(const ConsumedElement& row) {
  return std::tuple(row.element, row.row);
}
auto key_of(const OpCall& row) {
  return std::tuple(key_of(row.span), row.function_id.value(), row.type);
}
auto key_of(const StepMarker& row) {
  return std::tuple(row.start, row.duration, row.number);
}
auto key_of(const PipelineMaking& row) {
  return std::tuple(key_of(row.span), row.lane, row.structure);
}
auto key_of(const LongRelease& row) {
  return std::tuple(key_of(row.span), row.lane);
}
auto key_of(const PythonFrame& row) {
  return std::tuple(key_of(row.span), row.lane, row.name);
}
template <typename Table>
void expect_same(const Table& a, const Table& b, const char* what) {
  expect(a.size() == b.size(), what);
  for (std::size_t row = 0; row < a.size(); ++row) expect(key_of(a[row]) == key_of(b[row]), what);
}

/// Of two threads what begins at one time is in the order of arrival.
template <typename Row>
void expect_same_rows(std::vector<Row> a, std::vector<Row> b, const char* what) {
  const auto comes_before = [](const Row& x, const Row& y) { return key_of(x) < key_of(y); };
  std::sort(a.begin(), a.end(), comes_before);
  std::sort(b.begin(), b.end(), comes_before);
  expect_same(a, b, what);
}

/// The nodes by the names from the outermost frame on: in which order they were met is of no account.
auto frames_by_path(const Trace& trace) {
  using Path = std::vector<std::pair<StringId, bool>>;
  std::vector<Path> paths;
  std::map<Path, std::tuple<std::uint64_t, Picoseconds, Picoseconds>> frames;
  for (const FrameNode& node : trace.loader.nodes) {
    expect(node.parent == kNoRow || node.parent < paths.size(), "a frame comes before the one around it");
    Path path = node.parent == kNoRow ? Path{} : paths[node.parent];
    path.emplace_back(node.name, node.is_of_maker);
    paths.push_back(path);
    expect(frames.try_emplace(std::move(path), node.calls, node.total, node.shortest).second, "two nodes of one path");
  }
  return frames;
}

void expect_same_lane(const Lane& a, const Lane& b) {
  expect_same(a.iterator_calls, b.iterator_calls, "iterator calls differ");
  expect_same(a.get_next_calls, b.get_next_calls, "GetNext calls differ");
  expect_same(a.function_runs, b.function_runs, "function runs differ");
  expect_same(a.executor_spans, b.executor_spans, "executor spans differ");
  expect_same(a.python_calls, b.python_calls, "Python calls differ");
  expect_same(a.consumed, b.consumed, "consumed elements differ");
  expect_same(a.ops, b.ops, "ops differ");
  expect_same(a.pool_regions, b.pool_regions, "regions of a pool differ");
}

/// No subtree goes on after the one around it.
void expect_pre_order(const Lane& lane) {
  for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
    const std::uint32_t end = lane.iterator_calls.subtree_end(row);
    expect(end > row && end <= lane.iterator_calls.size(), "a subtree without an end");
    for (std::uint32_t below = row + 1; below < end; below = lane.iterator_calls.subtree_end(below)) {
      expect(lane.iterator_calls.subtree_end(below) <= end, "a subtree that goes on after the one around it");
    }
  }
}

}  // namespace
}  // namespace doctor

/// The events of threads, nested as they arrive in pieces, and sorted when all are there: both make the same tables.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace doctor;
  FuzzBytes choices(data, size);
  const unsigned piece = 1 + choices.below(16);
  const LaneEvents events = pick_events(choices);
  const Trace expected = build_sorting(events);
  const Trace found = build_in_pieces(events, piece);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    expect_same_lane(expected.lanes[lane], found.lanes[lane]);
    expect_pre_order(found.lanes[lane]);
  }
  expect_same(expected.produced, found.produced, "produced elements differ");
  expect_same_rows(expected.steps, found.steps, "steps differ");
  expect_same_rows(expected.makings, found.makings, "pipelines that are made differ");
  expect_same_rows(expected.releases, found.releases, "releases differ");
  expect_same_rows(expected.next_frames, found.next_frames, "frames of next() differ");
  expect_same_rows(expected.loader.items, found.loader.items, "frames of __getitem__ differ");
  expect_same_rows(expected.loader.makers, found.loader.makers, "frames of makers differ");
  expect(frames_by_path(expected) == frames_by_path(found), "frames of loaders differ");
  expect(expected.loader.ready == found.loader.ready, "batches of workers differ");
  expect_same_rows(expected.program_runs, found.program_runs, "runs of programs differ");
  expect(key_of(expected.window) == key_of(found.window), "windows differ");
  expect(expected.event_count == found.event_count, "counts differ");
  expect(expected.iterator_event_count == found.iterator_event_count, "counts of iterator calls differ");
  return 0;
}
