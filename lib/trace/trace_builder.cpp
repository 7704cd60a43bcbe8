#include "trace/trace_builder.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace doctor {
namespace {

/// An iterator call may take an element after a nested call returned, so the rows are not in order by themselves.
void sort_by_row(ChunkedVector<ConsumedElement>& consumed) {
  const auto is_before = [](const ConsumedElement& a, const ConsumedElement& b) { return a.row < b.row; };
  std::vector<ConsumedElement> sorted;
  bool is_sorted = true;
  for (std::size_t index = 1; index < consumed.size() && is_sorted; ++index) {
    is_sorted = !is_before(consumed[index], consumed[index - 1]);
  }
  if (is_sorted) return;
  for (std::size_t index = 0; index < consumed.size(); ++index) sorted.push_back(consumed[index]);
  std::stable_sort(sorted.begin(), sorted.end(), is_before);
  for (std::size_t index = 0; index < consumed.size(); ++index) consumed[index] = sorted[index];
}

/// Earlier first, then longer first; where both are equal the GetNext op is around the iterator, and the iterator
/// with the shorter long name around the longer.
bool comes_before(const LaneEvent& a, const LaneEvent& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.duration != b.duration) return a.duration > b.duration;
  const bool a_is_get_next = a.kind == EventKind::get_next;
  const bool b_is_get_next = b.kind == EventKind::get_next;
  if (a_is_get_next != b_is_get_next) return a_is_get_next;
  return a.name_length < b.name_length;
}

/// The datasets whose iterators are made are distinguished by the lengths of their names, which every reader has at
/// hand: a FNV-1a of them.
void add_to_structure(PipelineMaking& making, std::uint16_t name_length) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  making.structure = ((making.structure == 0 ? kOffset : making.structure) ^ name_length) * kPrime;
}

bool can_hold_others(EventKind kind) {
  return kind == EventKind::iterator || kind == EventKind::get_next || kind == EventKind::captured_function ||
         kind == EventKind::produce || kind == EventKind::executor || kind == EventKind::make_iterator ||
         kind == EventKind::python_call;
}

constexpr std::size_t kLanesOfBlock = 32;

std::uint32_t row_count(const auto& table) {
  return static_cast<std::uint32_t>(table.size());
}

}  // namespace

std::uint16_t name_length_of(std::string_view name) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), std::numeric_limits<std::uint16_t>::max()));
}

const char* const kNegativeDuration = "events_negative_duration";
const char* const kOutsideTimeRange = "events_outside_time_range";

/// What is open on a thread at one moment. Each entry carries the answers for the events nested in it, so that
/// nesting an event looks at the innermost entry only.
struct TraceBuilder::OpenEvent {
  EventKind kind = EventKind::other;
  bool in_executor = false;
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint64_t function_id = 0;        ///< of the innermost executor span, else of the innermost function run
  std::uint32_t own_row = kNoRow;       ///< row of this event in the table of its kind
  std::uint32_t iterator_row = kNoRow;  ///< innermost iterator call, this one included
  std::uint32_t get_next = kNoRow;      ///< outermost GetNext call, this one included
  std::uint32_t produce = kNoRow;       ///< innermost Produce with no iterator call in between
  std::uint32_t executor = kNoRow;      ///< innermost executor span that is kept
  std::uint32_t making = kNoMaking;     ///< outermost MakeIterator, this one included
  std::uint32_t python_call = kNoRow;   ///< innermost call from Python that is kept
};

struct TraceBuilder::LaneState {
  std::vector<OpenEvent> open;
  /// Events of the latest start time, to sort ties; with Order::any all events.
  std::vector<LaneEvent> held;
  Picoseconds latest_start = std::numeric_limits<Picoseconds>::min();  ///< of the events that are nested
  Picoseconds region_start = 0;
  bool region_is_open = false;
  bool is_compute_pool = false;  ///< only regions of compute (Eigen) threads are work that no op event shows
};

struct TraceBuilder::LaneWork {
  Lane tables;
  LaneState state;
};

TraceBuilder::TraceBuilder(Order order) : order_(order) {}
TraceBuilder::~TraceBuilder() = default;

LaneId TraceBuilder::lane(std::uint64_t process, std::uint64_t thread) {
  const auto place = lane_ids_.lower_bound({process, thread});
  if (place != lane_ids_.end() && place->first == ThreadKey{process, thread}) return place->second;
  const LaneId lane = add_lane();
  if (lane == kNoLane) return lane;
  lane_ids_.emplace_hint(place, ThreadKey{process, thread}, lane);
  place_of(lane).tables.thread_id = thread;
  return lane;
}

LaneId TraceBuilder::add_lane() {
  if (lane_count_ == kMostLanes) return kNoLane;
  if (lane_count_ % kLanesOfBlock == 0) lanes_.push_back(std::make_unique<LaneWork[]>(kLanesOfBlock));
  return static_cast<LaneId>(lane_count_++);
}

void TraceBuilder::lose_events_of_thread(std::uint64_t events) {
  trace_.event_count += events;
  std::uint64_t& lost = trace_.loss.counts["events_of_too_many_threads"];
  if (lost == 0) {
    trace_.loss.notes.push_back("the trace has more than " + std::to_string(kMostLanes) +
                                " threads with events of interest, more than any real job: those of others are lost");
  }
  lost += events;
}

TraceBuilder::LaneWork& TraceBuilder::work_of(LaneId lane) {
  return lanes_[index_of(lane) / kLanesOfBlock][index_of(lane) % kLanesOfBlock];
}

void TraceBuilder::name_lane(LaneId lane, std::string_view name) {
  LaneWork& work = work_of(lane);
  work.tables.name = intern(name);
  work.state.is_compute_pool = is_compute_pool(name);
}

TraceBuilder::Place TraceBuilder::place_of(LaneId lane) {
  LaneWork& work = work_of(lane);
  return {lane, work.tables, work.state};
}

void TraceBuilder::add(LaneId lane, std::span<const LaneEvent> events) {
  trace_.event_count += events.size();
  const Place place = place_of(lane);
  if (order_ == Order::any) {
    place.state.held.insert(place.state.held.end(), events.begin(), events.end());
    return;
  }
  for (std::size_t next = 0; next < events.size() && !saw_disorder_;) next = take_group(place, events, next);
}

/// Takes the events from `begin` on that start at one time; returns the index of the first one after them. The last
/// group stays held, for the next call may bring more of it.
std::size_t TraceBuilder::take_group(const Place& place, std::span<const LaneEvent> events, std::size_t begin) {
  LaneState& state = place.state;
  const Picoseconds start = events[begin].start;
  std::size_t end = begin + 1;
  while (end < events.size() && events[end].start == start) ++end;
  if (!state.held.empty() && state.held.front().start != start) nest_held(place);
  if (start < state.latest_start) {
    saw_disorder_ = true;
  } else if (end - begin == 1 && end < events.size() && state.held.empty()) {
    nest(place, events[begin]);
  } else {
    const std::span<const LaneEvent> group = events.subspan(begin, end - begin);
    state.held.insert(state.held.end(), group.begin(), group.end());
    if (end < events.size()) nest_held(place);
  }
  return end;
}

void TraceBuilder::nest_held(const Place& place) {
  std::vector<LaneEvent>& held = place.state.held;
  if (held.size() > 1) std::stable_sort(held.begin(), held.end(), comes_before);
  for (const LaneEvent& event : held) nest(place, event);
  held.clear();
}

void TraceBuilder::close_until(Lane& tables, LaneState& state, Picoseconds start, Picoseconds end) {
  while (!state.open.empty()) {
    const OpenEvent& top = state.open.back();
    // An event of no duration at the very end of another still belongs to it.
    const bool touches_end = top.end == start && end == start && top.start < start;
    if (top.end > start || touches_end) break;
    close(tables, top);
    state.open.pop_back();
  }
}

void TraceBuilder::close(Lane& tables, const OpenEvent& event) {
  if (event.kind == EventKind::iterator) {
    tables.iterator_calls[event.own_row].subtree_end = row_count(tables.iterator_calls);
  } else if (event.kind == EventKind::get_next && event.own_row != kNoRow) {
    tables.get_next_calls[event.own_row].end_row = row_count(tables.iterator_calls);
  }
}

void TraceBuilder::nest(const Place& place, const LaneEvent& event) {
  const Picoseconds end = event.start + event.duration;
  if (event.kind != EventKind::python_call && event.kind != EventKind::eager_execute &&
      event.kind != EventKind::release) {
    window_.start = std::min(window_.start, event.start);
    window_.end = std::max(window_.end, end);
  }
  LaneState& state = place.state;
  state.latest_start = event.start;
  close_until(place.tables, state, event.start, end);
  if (!state.open.empty() && state.open.back().executor != kNoRow) {
    ++place.tables.executor_spans[state.open.back().executor].event_count;
  }
  if (!can_hold_others(event.kind)) return add_leaf(place, event);

  if (state.open.empty()) {
    state.open.emplace_back();
  } else {
    state.open.push_back(state.open.back());
  }
  OpenEvent& opened = state.open.back();
  opened.kind = event.kind;
  opened.start = event.start;
  opened.end = end;
  opened.own_row = kNoRow;
  add_row(place, event, opened);
}

/// An event that others are nested in. `opened` has what is around it.
void TraceBuilder::add_row(const Place& place, const LaneEvent& event, OpenEvent& opened) {
  Lane& tables = place.tables;
  const PackedSpan span(event.start, event.duration);
  switch (event.kind) {
    case EventKind::iterator:
      opened.own_row = row_count(tables.iterator_calls);
      if (opened.produce != kNoRow && tables.produced[opened.produce].row == kNoRow) {
        tables.produced[opened.produce].row = opened.own_row;
      }
      opened.iterator_row = opened.own_row;
      opened.produce = kNoRow;
      tables.iterator_calls.push_back({span, static_cast<InstanceId>(event.subject), opened.own_row + 1});
      ++trace_.iterator_event_count;
      break;
    case EventKind::get_next:
      if (opened.get_next == kNoRow) {
        opened.own_row = opened.get_next = row_count(tables.get_next_calls);
        const std::uint32_t next_row = row_count(tables.iterator_calls);
        tables.get_next_calls.push_back({span, next_row, next_row});
      }
      break;
    case EventKind::captured_function:
      if (opened.produce != kNoRow) tables.produced[opened.produce].last_run = row_count(tables.function_runs);
      tables.function_runs.push_back({span, PackedToken(event.id), opened.iterator_row});
      if (!opened.in_executor) opened.function_id = event.id;
      break;
    case EventKind::produce:
      opened.own_row = opened.produce = row_count(tables.produced);
      tables.produced.push_back({PackedToken(event.id), kNoRow, kNoRow});
      break;
    case EventKind::executor:
      opened.function_id = event.id;
      opened.in_executor = true;
      opened.executor = kNoRow;
      if (event.id == 0 || tables.executor_spans.size() >= kMostExecutorSpans) break;
      opened.executor = row_count(tables.executor_spans);
      tables.executor_spans.push_back({span, PackedToken(event.id), 0});
      break;
    case EventKind::make_iterator:
      // Inside of an iterator call a transformation makes the iterators of its elements.
      if (opened.iterator_row != kNoRow) break;
      if (opened.making == kNoMaking) {
        opened.making = row_count(trace_.makings);
        trace_.makings.push_back({{event.start, event.start + event.duration}, place.lane, 0});
      }
      add_to_structure(trace_.makings[opened.making], event.name_length);
      break;
    case EventKind::python_call:
      opened.python_call = kNoRow;
      if (tables.python_calls.size() >= kMostPythonCalls) break;
      opened.python_call = row_count(tables.python_calls);
      tables.python_calls.push_back({span, 0});
      break;
    default:  // leaves
      break;
  }
}

/// An event that nothing is nested in.
void TraceBuilder::add_leaf(const Place& place, const LaneEvent& event) {
  Lane& tables = place.tables;
  LaneState& state = place.state;
  switch (event.kind) {
    case EventKind::consume:
      if (!state.open.empty() && state.open.back().iterator_row != kNoRow && event.id != 0) {
        tables.consumed.push_back({PackedToken(event.id), state.open.back().iterator_row});
      }
      break;
    case EventKind::region_start:
      state.region_start = event.start;
      state.region_is_open = state.is_compute_pool;
      break;
    case EventKind::region_stop:
      if (state.region_is_open) tables.pool_regions.push_back({state.region_start, event.start - state.region_start});
      state.region_is_open = false;
      break;
    case EventKind::op: {
      const std::uint64_t function_id = state.open.empty() ? 0 : state.open.back().function_id;
      tables.ops.push_back(
          {PackedSpan(event.start, event.duration), PackedToken(function_id), static_cast<StringId>(event.subject)});
      break;
    }
    case EventKind::eager_execute:
      if (!state.open.empty() && state.open.back().python_call != kNoRow) {
        PythonCall& call = tables.python_calls[state.open.back().python_call];
        call.ran_until = std::max(call.ran_until, std::min(event.start + event.duration, call.span.end()));
      }
      break;
    case EventKind::release:
      if (event.duration < kShortestLongRelease) break;
      trace_.releases.push_back({{event.start, event.start + event.duration}, place.lane});
      break;
    case EventKind::next_frame:
      trace_.next_frames.push_back(
          {{event.start, event.start + event.duration}, place.lane, static_cast<StringId>(event.subject)});
      break;
    case EventKind::program_run:
      if (trace_.program_runs.size() >= kMostProgramRuns) break;
      trace_.program_runs.push_back({event.start, event.start + event.duration});
      // On a compute thread it lies in a region, or has regions of its own.
      if (!state.is_compute_pool) tables.pool_regions.push_back({event.start, event.duration});
      break;
    case EventKind::step:
      trace_.steps.push_back({event.start, event.duration, static_cast<std::int64_t>(event.id)});
      break;
    default:  // others are no leaves, or not kept: readers pair `region_queued` themselves
      break;
  }
}

/// On the threads of a pipeline a transformation makes the iterators of its elements (a parallel interleave those of
/// its next file): no pipeline of its own. The ops that make one have threads of other names, "tf_data_make_iterator".
void TraceBuilder::keep_makings_of_pipelines() {
  std::erase_if(trace_.makings, [&](const PipelineMaking& making) {
    const std::string_view thread = trace_.strings[trace_.lanes[index_of(making.lane)].name];
    return thread.starts_with("tf_data_iterator_resource") || thread.starts_with("tf_data_private_threadpool");
  });
  std::stable_sort(trace_.makings.begin(), trace_.makings.end(), [](const PipelineMaking& a, const PipelineMaking& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.lane < b.lane;
  });
}

/// Closes what is open, and gives the memory of every block back before the next needs some.
void TraceBuilder::finish_lanes() {
  trace_.lanes.reserve(lane_count_);
  for (std::unique_ptr<LaneWork[]>& block : lanes_) {
    for (std::size_t index = 0; index < kLanesOfBlock && trace_.lanes.size() < lane_count_; ++index) {
      Lane& tables = block[index].tables;
      LaneState& state = block[index].state;
      nest_held({static_cast<LaneId>(trace_.lanes.size()), tables, state});
      for (; !state.open.empty(); state.open.pop_back()) close(tables, state.open.back());
      sort_by_row(tables.consumed);
      trace_.lanes.push_back(std::move(tables));
    }
    block.reset();
  }
}

/// An iterator of Python often takes its elements from another one (NumpyIterator): the outermost is the consumer's.
void TraceBuilder::keep_outermost_frames() {
  std::stable_sort(trace_.next_frames.begin(), trace_.next_frames.end(), [](const NextFrame& a, const NextFrame& b) {
    return std::tuple(a.lane, a.span.start, b.span.end) < std::tuple(b.lane, b.span.start, a.span.end);
  });
  std::vector<NextFrame> outermost;
  for (const NextFrame& frame : trace_.next_frames) {
    const bool is_inside =
        !outermost.empty() && outermost.back().lane == frame.lane && frame.span.start < outermost.back().span.end;
    if (!is_inside) outermost.push_back(frame);
  }
  std::stable_sort(outermost.begin(), outermost.end(),
                   [](const NextFrame& a, const NextFrame& b) { return a.span.start < b.span.start; });
  trace_.next_frames = std::move(outermost);
}

/// What records JAX or PyTorch records nothing of tf.data, Grain or a DataLoader but that Python waits for it: then its
/// frames are the consumer's calls.
void TraceBuilder::take_frames_for_calls() {
  const bool has_calls = std::any_of(trace_.lanes.begin(), trace_.lanes.end(),
                                     [](const Lane& lane) { return !lane.get_next_calls.empty(); });
  if (has_calls) return;
  for (const NextFrame& frame : trace_.next_frames) {
    ChunkedVector<GetNextCall>& calls = trace_.lanes[index_of(frame.lane)].get_next_calls;
    calls.push_back({PackedSpan(frame.span.start, frame.span.end - frame.span.start), 0, 0});
  }
}

Trace TraceBuilder::finish() {
  lane_ids_.clear();
  finish_lanes();
  std::stable_sort(trace_.steps.begin(), trace_.steps.end(),
                   [](const StepMarker& a, const StepMarker& b) { return a.start < b.start; });
  std::stable_sort(trace_.releases.begin(), trace_.releases.end(),
                   [](const LongRelease& a, const LongRelease& b) { return a.span.start < b.span.start; });
  std::sort(trace_.program_runs.begin(), trace_.program_runs.end(),
            [](Interval a, Interval b) { return std::pair(a.start, a.end) < std::pair(b.start, b.end); });
  keep_outermost_frames();
  if (trace_.iterator_event_count == 0) take_frames_for_calls();
  keep_makings_of_pipelines();
  trace_.instances = instances_.take(trace_.loss);
  if (window_.start <= window_.end) trace_.window = window_;
  return std::move(trace_);
}

}  // namespace doctor
