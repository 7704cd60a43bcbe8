#include "base/hash.h"
#include "trace/trace_builder.h"

// The events of a thread become rows of tables, each with what is around it.

namespace doctor {
namespace {

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
/// hand: a hash of them.
void add_to_structure(PipelineMaking& making, std::uint16_t name_length) {
  making.structure = hash_with(making.structure == 0 ? kEmptyHash : making.structure, name_length);
}

/// Sets of kinds as bits.
template <typename... Kinds>
constexpr std::uint32_t bits_of(Kinds... kinds) {
  return ((1u << static_cast<unsigned>(kinds)) | ...);
}
constexpr std::uint32_t kHolders =
    bits_of(EventKind::iterator, EventKind::get_next, EventKind::captured_function, EventKind::produce,
            EventKind::executor, EventKind::make_iterator, EventKind::python_call, EventKind::next_frame,
            EventKind::maker_frame, EventKind::item_frame, EventKind::python_frame);
constexpr std::uint32_t kOutsideWindow =
    bits_of(EventKind::python_call, EventKind::eager_execute, EventKind::release, EventKind::maker_frame,
            EventKind::queue_put, EventKind::batch_ready, EventKind::item_frame, EventKind::python_frame);
constexpr std::uint32_t kFrames =
    bits_of(EventKind::next_frame, EventKind::maker_frame, EventKind::item_frame, EventKind::python_frame);

constexpr bool is_one_of(EventKind kind, std::uint32_t kinds) {
  return (kinds >> static_cast<unsigned>(kind) & 1) != 0;
}

std::uint32_t row_count(const auto& table) {
  return static_cast<std::uint32_t>(table.size());
}

}  // namespace

// Inlined by force into one loop over the events of a thread: calls would be a fifth of what it takes.

void TraceBuilder::close(Lane& tables, const OpenEvent& event) {
  if (event.kind == EventKind::iterator) {
    tables.iterator_calls.close(event.own_row);
  } else if (event.kind == EventKind::get_next && event.own_row != kNoRow) {
    tables.get_next_calls[event.own_row].end_row = row_count(tables.iterator_calls);
  }
}

[[gnu::always_inline]] inline void TraceBuilder::close_until(Lane& tables, LaneState& state, Picoseconds start,
                                                             Picoseconds end) {
  while (!state.open.empty()) {
    const OpenEvent& top = state.open.back();
    if (top.end > start) break;
    // An event of no duration at the very end of another still belongs to it.
    if (end == start && top.end == start && top.start < start) break;
    close(tables, top);
    state.open.pop_back();
  }
}

/// An event that others are nested in. `opened` has what is around it.
[[gnu::always_inline]] inline void TraceBuilder::add_row(const Place& place, const LaneEvent& event,
                                                         OpenEvent& opened) {
  Lane& tables = place.tables;
  ElementEvents& elements = place.state.elements;
  const PackedSpan span(event.start, event.duration);
  switch (event.kind) {
    case EventKind::iterator:
      opened.own_row = row_count(tables.iterator_calls);
      if (opened.produce != kNoRow && elements.produced[opened.produce].row == kNoRow) {
        elements.produced[opened.produce].row = opened.own_row;
      }
      opened.iterator_row = opened.own_row;
      opened.produce = kNoRow;
      tables.iterator_calls.push_back(span, static_cast<InstanceId>(event.subject));
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
      if (opened.produce != kNoRow) elements.produced[opened.produce].last_run = row_count(tables.function_runs);
      tables.function_runs.push_back({span, PackedToken(event.id), opened.iterator_row});
      if (!opened.in_executor) opened.function_id = event.id;
      break;
    case EventKind::produce:
      opened.own_row = opened.produce = row_count(elements.produced);
      elements.produced.push_back({PackedToken(event.id), kNoRow, kNoRow});
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
    case EventKind::next_frame:
      opened.awaits_item = true;
      if (opened.in_maker) break;
      trace_.next_frames.push_back({{event.start, opened.end}, place.lane, static_cast<StringId>(event.subject)});
      break;
    case EventKind::maker_frame:
      opened.awaits_item = true;
      if (std::exchange(opened.in_maker, true) || trace_.loader.makers.size() >= kMostItemFrames) break;
      trace_.loader.makers.push_back({{event.start, opened.end}, place.lane, static_cast<StringId>(event.subject)});
      break;
    case EventKind::item_frame:
      if (!std::exchange(opened.awaits_item, false) || trace_.loader.items.size() >= kMostItemFrames) break;
      trace_.loader.items.push_back({{event.start, opened.end}, place.lane, static_cast<StringId>(event.subject)});
      break;
    default:  // leaves
      break;
  }
}

/// An event that nothing is nested in. `around`: what it is nested in; null if in nothing.
[[gnu::always_inline]] inline void TraceBuilder::add_leaf(const Place& place, const LaneEvent& event,
                                                          const OpenEvent* around) {
  Lane& tables = place.tables;
  LaneState& state = place.state;
  switch (event.kind) {
    case EventKind::consume:
      if (around != nullptr && around->iterator_row != kNoRow && event.id != 0) {
        state.elements.consumed.push_back({PackedToken(event.id), around->iterator_row});
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
      const std::uint64_t function_id = around == nullptr ? 0 : around->function_id;
      tables.ops.push_back(
          {PackedSpan(event.start, event.duration), PackedToken(function_id), static_cast<StringId>(event.subject)});
      break;
    }
    case EventKind::eager_execute:
      if (around != nullptr && around->python_call != kNoRow) {
        PythonCall& call = tables.python_calls[around->python_call];
        call.ran_until = std::max(call.ran_until, std::min(event.start + event.duration, call.span.end()));
      }
      break;
    case EventKind::release:
      if (event.duration < kShortestLongRelease) break;
      trace_.releases.push_back({{event.start, event.start + event.duration}, place.lane});
      break;
    case EventKind::batch_ready:
      if (trace_.loader.ready.size() < kMostItemFrames) trace_.loader.ready.push_back(event.start);
      break;
    case EventKind::queue_put:
      if (around == nullptr || around->frame == kNoRow) tables.fills_queue = true;
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

[[gnu::always_inline]] inline void TraceBuilder::nest(const Place& place, const LaneEvent& event) {
  const Picoseconds end = event.start + event.duration;
  if (!is_one_of(event.kind, kOutsideWindow)) {
    window_.start = std::min(window_.start, event.start);
    window_.end = std::max(window_.end, end);
  }
  LaneState& state = place.state;
  state.latest_start = event.start;
  close_until(place.tables, state, event.start, end);
  const OpenEvent* const around = state.open.empty() ? nullptr : &state.open.back();
  if (around != nullptr && around->executor != kNoRow) ++place.tables.executor_spans[around->executor].event_count;
  if (!is_one_of(event.kind, kHolders)) return add_leaf(place, event, around);
  const bool is_in_loader = around != nullptr && around->frame != kNoRow;
  if (event.kind == EventKind::python_frame && !is_in_loader) return;

  OpenEvent& opened = around == nullptr ? state.open.emplace_back() : state.open.emplace_back(*around);
  opened.kind = event.kind;
  opened.start = event.start;
  opened.end = end;
  opened.own_row = kNoRow;
  add_row(place, event, opened);
  const bool begins_loader = event.kind == EventKind::next_frame || event.kind == EventKind::maker_frame;
  if (is_one_of(event.kind, kFrames) && (is_in_loader || begins_loader)) opened.frame = frame_node(event, opened);
}

/// The node of a frame below those of `around`, with this call added to it.
std::uint32_t TraceBuilder::frame_node(const LaneEvent& event, const OpenEvent& around) {
  std::vector<FrameNode>& nodes = trace_.loader.nodes;
  // Names are fewer than 2^31. The same frames in next() and in a maker are two nodes.
  const std::uint64_t key =
      std::uint64_t{around.frame} << 32 | std::uint64_t{around.in_maker ? 1u : 0u} << 31 | event.subject;
  const bool is_full = nodes.size() >= kMostFrameNodes && !frame_nodes_.contains(key);
  if (is_full) return around.frame;
  const auto [place, is_new] = frame_nodes_.try_emplace(key, row_count(nodes));
  if (is_new) nodes.push_back({static_cast<StringId>(event.subject), around.frame, around.in_maker});
  FrameNode& node = nodes[place->second];
  ++node.calls;
  node.total += event.duration;
  node.shortest = std::min(node.shortest, event.duration);
  return place->second;
}

void TraceBuilder::nest_held(const Place& place) {
  std::vector<LaneEvent>& held = place.state.held;
  if (held.size() > 1) std::stable_sort(held.begin(), held.end(), comes_before);
  for (const LaneEvent& event : held) nest(place, event);
  held.clear();
}

/// Takes the events from `begin` on that start at one time; returns the index of the first one after them. The last
/// group stays held, for the next call may bring more of it.
[[gnu::always_inline]] inline std::size_t TraceBuilder::take_group(const Place& place,
                                                                   std::span<const LaneEvent> events,
                                                                   std::size_t begin) {
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

void TraceBuilder::add(LaneId lane, std::span<const LaneEvent> events) {
  trace_.event_count += events.size();
  const Place place = place_of(lane);
  if (order_ == Order::any) {
    place.state.held.insert(place.state.held.end(), events.begin(), events.end());
    return;
  }
  for (std::size_t next = 0; next < events.size() && !saw_disorder_;) next = take_group(place, events, next);
}

}  // namespace doctor
