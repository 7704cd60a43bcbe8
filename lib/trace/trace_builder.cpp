#include "trace/trace_builder.h"

#include <algorithm>
#include <array>
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

std::uint32_t row_count(const auto& table) {
  return static_cast<std::uint32_t>(table.size());
}

}  // namespace

bool is_iterator_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 24> kNames = {
      "active_elements",      "algorithm",           "autotune",           "batch_size",        "block_length",
      "buffer_limit",         "buffer_size",         "buffered_bytes_MB",  "buffered_elements", "cpu_budget",
      "cycle_length",         "deterministic",       "drop_remainder",     "filtered_elements", "interleave_depth",
      "intra_op_parallelism", "max_batch_results",   "num_parallel_calls", "parallel_copy",     "parallelism",
      "ram_budget_megabytes", "ram_usage_megabytes", "results_ready",      "threadpool_size"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// What is open on a thread at one moment. Each entry carries the answers for the events nested in it, so that
/// nesting an event looks at the innermost entry only.
struct TraceBuilder::OpenEvent {
  EventKind kind = EventKind::other;
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint32_t own_row = kNoRow;            ///< row of this event in the table of its kind
  std::uint32_t iterator_row = kNoRow;       ///< innermost iterator call, this one included
  std::uint32_t get_next = kNoRow;           ///< outermost GetNext call, this one included
  std::uint32_t produce = kNoRow;            ///< innermost Produce with no iterator call in between
  std::optional<std::uint64_t> function_id;  ///< of the innermost executor span, else of the innermost function run
  bool in_executor = false;
};

struct TraceBuilder::LaneState {
  std::vector<OpenEvent> open;
  std::vector<StoredEvent> same_start;  ///< held back until the start time moves on, to sort ties
  Picoseconds region_start = 0;
  bool region_is_open = false;
  bool is_compute_pool = false;  ///< only regions of compute (Eigen) threads are work that no op event shows
};

/// What remains of an event once its strings, attributes and instance are looked up.
struct TraceBuilder::StoredEvent {
  EventKind kind = EventKind::other;
  StringId name{};
  Picoseconds start = 0;
  Picoseconds duration = 0;
  InstanceId instance{};            ///< of an iterator
  std::optional<std::uint64_t> id;  ///< function id, or the element id of Produce and Consume
  std::int64_t step_number = 0;
};

TraceBuilder::TraceBuilder(Order order) : order_(order) {}
TraceBuilder::~TraceBuilder() = default;

LaneId TraceBuilder::lane(std::uint64_t process, std::uint64_t thread) {
  const auto [place, is_new] = lane_ids_.try_emplace({process, thread}, static_cast<LaneId>(trace_.lanes.size()));
  if (is_new) {
    trace_.lanes.emplace_back();
    lane_states_.emplace_back();
    stored_.emplace_back();
  }
  return place->second;
}

void TraceBuilder::name_lane(LaneId lane, std::string_view name) {
  trace_.lanes[index_of(lane)].name = intern(name);
  // The compute threads of intra-op parallelism are called tf_numa_-1_Eigen/…, those of TF 1.x and 2.0 too.
  lane_states_[index_of(lane)].is_compute_pool = name.find("Eigen") != std::string_view::npos;
}

void TraceBuilder::add(LaneId lane, const RawEvent& event) {
  ++trace_.event_count;
  if (event.kind == EventKind::other || saw_disorder_) return;
  if (event.duration < 0) return trace_.loss.add("events_negative_duration");
  if (event.start < PackedSpan::kMinStart || event.start > PackedSpan::kMaxStart ||
      event.duration > PackedSpan::kMaxDuration) {
    return trace_.loss.add("events_outside_time_range");
  }
  StoredEvent stored{event.kind, event.name, event.start, event.duration, {}, event.id, event.step_number};
  if (event.kind == EventKind::iterator) stored.instance = instance_of(event);
  if (event.kind == EventKind::produce || event.kind == EventKind::consume) stored.id = event.element_id;
  if (order_ == Order::any) return stored_[index_of(lane)].push_back(stored);

  std::vector<StoredEvent>& held = lane_states_[index_of(lane)].same_start;
  if (!held.empty() && event.start != held.front().start) {
    if (event.start < held.front().start) {
      saw_disorder_ = true;
      return;
    }
    nest_held(lane);
  }
  held.push_back(stored);
}

/// Earlier first, then longer first; where both are equal the GetNext op is around the iterator, and the iterator
/// with the shorter long name around the longer.
bool TraceBuilder::comes_before(const StoredEvent& a, const StoredEvent& b) const {
  if (a.start != b.start) return a.start < b.start;
  if (a.duration != b.duration) return a.duration > b.duration;
  const bool a_is_get_next = a.kind == EventKind::get_next;
  const bool b_is_get_next = b.kind == EventKind::get_next;
  if (a_is_get_next != b_is_get_next) return a_is_get_next;
  return trace_.strings[a.name].size() < trace_.strings[b.name].size();
}

void TraceBuilder::nest_held(LaneId lane) {
  std::vector<StoredEvent>& held = lane_states_[index_of(lane)].same_start;
  if (held.size() > 1) {
    std::stable_sort(held.begin(), held.end(),
                     [this](const StoredEvent& a, const StoredEvent& b) { return comes_before(a, b); });
  }
  for (const StoredEvent& event : held) nest(lane, event);
  held.clear();
}

InstanceId TraceBuilder::instance_of(const RawEvent& event) {
  const InstanceKey key{event.name, event.id.value_or(0), event.parent_id.value_or(0)};
  const auto [place, is_new] = instance_ids_.try_emplace(key, static_cast<InstanceId>(trace_.instances.size()));
  if (is_new) {
    trace_.instances.push_back(
        {event.name, event.dataset_name, event.id, event.parent_id, {}, event.start, event.start, 0});
  }
  IteratorInstance& instance = trace_.instances[index_of(place->second)];
  ++instance.event_count;
  instance.first_start = std::min(instance.first_start, event.start);
  const bool is_latest = event.start >= instance.last_start;
  instance.last_start = std::max(instance.last_start, event.start);
  for (const Attribute& attribute : event.attributes) {
    const auto known = std::find_if(instance.attributes.begin(), instance.attributes.end(),
                                    [&](const Attribute& other) { return other.name == attribute.name; });
    if (known == instance.attributes.end()) {
      instance.attributes.push_back(attribute);
    } else if (is_latest) {
      *known = attribute;
    }
  }
  return place->second;
}

void TraceBuilder::close_until(LaneId lane, Picoseconds start, Picoseconds end) {
  LaneState& state = lane_states_[index_of(lane)];
  Lane& tables = trace_.lanes[index_of(lane)];
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

void TraceBuilder::nest(LaneId lane, const StoredEvent& event) {
  const Picoseconds end = event.start + event.duration;
  window_.start = std::min(window_.start, event.start);
  window_.end = std::max(window_.end, end);
  close_until(lane, event.start, end);

  LaneState& state = lane_states_[index_of(lane)];
  OpenEvent opened = state.open.empty() ? OpenEvent{} : state.open.back();
  opened.kind = event.kind;
  opened.start = event.start;
  opened.end = end;
  opened.own_row = kNoRow;
  add_row(trace_.lanes[index_of(lane)], state, event, opened);

  const bool can_hold_others = event.kind == EventKind::iterator || event.kind == EventKind::get_next ||
                               event.kind == EventKind::captured_function || event.kind == EventKind::produce ||
                               event.kind == EventKind::executor;
  if (can_hold_others) state.open.push_back(opened);
}

void TraceBuilder::add_row(Lane& tables, LaneState& state, const StoredEvent& event, OpenEvent& opened) {
  const PackedSpan span(event.start, event.duration);
  switch (event.kind) {
    case EventKind::iterator:
      opened.own_row = row_count(tables.iterator_calls);
      if (opened.produce != kNoRow && tables.produced[opened.produce].row == kNoRow) {
        tables.produced[opened.produce].row = opened.own_row;
      }
      opened.iterator_row = opened.own_row;
      opened.produce = kNoRow;
      tables.iterator_calls.push_back({span, event.instance, opened.own_row + 1});
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
      tables.function_runs.push_back({span, PackedToken(event.id.value_or(0)), opened.iterator_row});
      if (!opened.in_executor) opened.function_id = event.id;
      break;
    case EventKind::produce:
      opened.own_row = opened.produce = row_count(tables.produced);
      tables.produced.push_back({PackedToken(event.id.value_or(0)), kNoRow, kNoRow});
      break;
    case EventKind::consume:
      if (opened.iterator_row != kNoRow && event.id) {
        tables.consumed.push_back({PackedToken(*event.id), opened.iterator_row});
      }
      break;
    case EventKind::executor:
      opened.function_id = event.id;
      opened.in_executor = true;
      break;
    case EventKind::region_start:
      state.region_start = event.start;
      state.region_is_open = state.is_compute_pool;
      break;
    case EventKind::region_stop:
      if (state.region_is_open) tables.pool_regions.push_back({state.region_start, event.start - state.region_start});
      state.region_is_open = false;
      break;
    case EventKind::op:
      tables.ops.push_back({span, PackedToken(opened.function_id.value_or(0)), op_type(event.name)});
      break;
    case EventKind::step:
      trace_.steps.push_back({event.start, event.duration, event.step_number});
      break;
    case EventKind::make_iterator:
      ++trace_.make_iterator_count;
      break;
    case EventKind::other:
      break;
  }
}

StringId TraceBuilder::op_type(StringId name) {
  const auto [place, is_new] = op_types_.try_emplace(name, StringId{});
  if (is_new) place->second = intern(op_type_of(trace_.strings[name]));
  return place->second;
}

void TraceBuilder::nest_stored() {
  for (std::size_t index = 0; index < stored_.size(); ++index) {
    const auto lane = static_cast<LaneId>(index);
    std::vector<StoredEvent>& events = lane_states_[index].same_start;
    events = std::move(stored_[index]);
    nest_held(lane);
  }
}

Trace TraceBuilder::finish() {
  if (order_ == Order::any) nest_stored();
  for (std::size_t index = 0; index < lane_states_.size(); ++index) {
    const auto lane = static_cast<LaneId>(index);
    nest_held(lane);
    for (; !lane_states_[index].open.empty(); lane_states_[index].open.pop_back()) {
      close(trace_.lanes[index], lane_states_[index].open.back());
    }
  }
  for (Lane& lane : trace_.lanes) sort_by_row(lane.consumed);
  std::stable_sort(trace_.steps.begin(), trace_.steps.end(),
                   [](const StepMarker& a, const StepMarker& b) { return a.start < b.start; });
  if (window_.start <= window_.end) trace_.window = window_;
  return std::move(trace_);
}

}  // namespace doctor
