#include "trace/trace_builder.h"

#include <array>
#include <tuple>

namespace doctor {
namespace {

constexpr std::size_t kLanesOfBlock = 32;

/// Whether a thread is of a pipeline, by its name; from TF 2.23 on that says the transformation.
bool is_thread_of_pipeline(std::string_view thread) {
  constexpr std::array<std::string_view, 5> kNames = {"tf_data_iterator_resource", "tf_data_private_threadpool",
                                                      "tf_data_prefetch", "tf_data_parallel_", "tf_data_map_"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return thread.starts_with(name); });
}

void sort_by_start(std::vector<PythonFrame>& frames) {
  std::stable_sort(frames.begin(), frames.end(),
                   [](const PythonFrame& a, const PythonFrame& b) { return a.span.start < b.span.start; });
}

}  // namespace

std::uint16_t name_length_of(std::string_view name) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), std::numeric_limits<std::uint16_t>::max()));
}

const char* const kNegativeDuration = "events_negative_duration";
const char* const kOutsideTimeRange = "events_outside_time_range";

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

/// On the threads of a pipeline a transformation makes the iterators of its elements (a parallel interleave those of
/// its next file): no pipeline of its own. The ops that make one have threads of other names, "tf_data_make_iterator".
void TraceBuilder::keep_makings_of_pipelines() {
  std::erase_if(trace_.makings, [&](const PipelineMaking& making) {
    return is_thread_of_pipeline(trace_.strings[trace_.lanes[making.lane].name]);
  });
  std::stable_sort(trace_.makings.begin(), trace_.makings.end(), [](const PipelineMaking& a, const PipelineMaking& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.lane < b.lane;
  });
}

/// Closes what is open, and gives the memory of every block back before the next needs some.
void TraceBuilder::finish_lanes(const WorkOptions& work) {
  std::vector<ElementEvents> elements;
  trace_.lanes.reserve(lane_count_);
  for (std::unique_ptr<LaneWork[]>& block : lanes_) {
    for (std::size_t index = 0; index < kLanesOfBlock && trace_.lanes.size() < lane_count_; ++index) {
      Lane& tables = block[index].tables;
      LaneState& state = block[index].state;
      nest_held({static_cast<LaneId>(trace_.lanes.size()), tables, state});
      for (; !state.open.empty(); state.open.pop_back()) close(tables, state.open.back());
      tables.iterator_calls.finish();
      if (!state.elements.produced.empty() || !state.elements.consumed.empty()) {
        state.elements.lane = static_cast<LaneId>(trace_.lanes.size());
        elements.push_back(std::move(state.elements));
      }
      trace_.lanes.push_back(std::move(tables));
    }
    block.reset();
  }
  link_elements(std::move(elements), trace_, work);
}

/// An iterator of Python often takes its elements from another one (NumpyIterator): the outermost is the consumer's.
void TraceBuilder::keep_outermost_frames() {
  std::stable_sort(trace_.next_frames.begin(), trace_.next_frames.end(),
                   [](const PythonFrame& a, const PythonFrame& b) {
                     return std::tuple(a.lane, a.span.start, b.span.end) < std::tuple(b.lane, b.span.start, a.span.end);
                   });
  std::vector<PythonFrame> outermost;
  for (const PythonFrame& frame : trace_.next_frames) {
    const bool is_inside =
        !outermost.empty() && outermost.back().lane == frame.lane && frame.span.start < outermost.back().span.end;
    if (!is_inside) outermost.push_back(frame);
  }
  sort_by_start(outermost);
  trace_.next_frames = std::move(outermost);
}

/// A thread that takes elements and puts them into a queue makes them ahead of what takes from the queue, if anything
/// is seen to.
void TraceBuilder::tell_makers_from_consumers() {
  std::vector<PythonFrame>& frames = trace_.next_frames;
  const auto is_consumer = [&](const PythonFrame& frame) { return !trace_.lanes[frame.lane].fills_queue; };
  const bool is_of_grain = !frames.empty() && loader_of_frame(trace_.strings[frames.front().name]) == kGrain;
  if (is_of_grain && std::any_of(frames.begin(), frames.end(), is_consumer)) {
    const auto makers = std::stable_partition(frames.begin(), frames.end(), is_consumer);
    trace_.loader.makers.insert(trace_.loader.makers.end(), makers, frames.end());
    frames.erase(makers, frames.end());
  }
  sort_by_start(trace_.loader.makers);
  sort_by_start(trace_.loader.items);
  std::sort(trace_.loader.ready.begin(), trace_.loader.ready.end());
}

void TraceBuilder::add_setting(std::string_view text) {
  constexpr std::size_t kMostSettings = 64;  // a pipeline has some stages
  std::vector<StringId>& settings = trace_.loader.settings;
  const StringId setting = intern(text);
  const bool is_known = std::find(settings.begin(), settings.end(), setting) != settings.end();
  if (!is_known && settings.size() < kMostSettings) settings.push_back(setting);
}

/// What records JAX or PyTorch records nothing of tf.data, Grain or a DataLoader but that Python waits for it: then its
/// frames are the consumer's calls.
void TraceBuilder::take_frames_for_calls() {
  const bool has_calls = std::any_of(trace_.lanes.begin(), trace_.lanes.end(),
                                     [](const Lane& lane) { return !lane.get_next_calls.empty(); });
  if (has_calls) return;
  for (const PythonFrame& frame : trace_.next_frames) {
    ChunkedVector<GetNextCall>& calls = trace_.lanes[frame.lane].get_next_calls;
    calls.push_back({PackedSpan(frame.span.start, frame.span.end - frame.span.start), 0, 0});
  }
}

Trace TraceBuilder::finish(const WorkOptions& work) {
  lane_ids_.clear();
  finish_lanes(work);
  std::stable_sort(trace_.steps.begin(), trace_.steps.end(),
                   [](const StepMarker& a, const StepMarker& b) { return a.start < b.start; });
  std::stable_sort(trace_.releases.begin(), trace_.releases.end(),
                   [](const LongRelease& a, const LongRelease& b) { return a.span.start < b.span.start; });
  std::sort(trace_.program_runs.begin(), trace_.program_runs.end(),
            [](Interval a, Interval b) { return std::pair(a.start, a.end) < std::pair(b.start, b.end); });
  keep_outermost_frames();
  tell_makers_from_consumers();
  if (trace_.iterator_event_count == 0) take_frames_for_calls();
  doubt_calls(trace_);
  keep_makings_of_pipelines();
  trace_.instances = instances_.take(trace_.loss);
  if (window_.start <= window_.end) trace_.window = window_;
  return std::move(trace_);
}

bool is_iterator_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 24> kNames = {
      "active_elements",      "algorithm",           "autotune",           "batch_size",        "block_length",
      "buffer_limit",         "buffer_size",         "buffered_bytes_MB",  "buffered_elements", "cpu_budget",
      "cycle_length",         "deterministic",       "drop_remainder",     "filtered_elements", "interleave_depth",
      "intra_op_parallelism", "max_batch_results",   "num_parallel_calls", "parallel_copy",     "parallelism",
      "ram_budget_megabytes", "ram_usage_megabytes", "results_ready",      "threadpool_size"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

InstanceId InstanceTable::instance_of(const InstanceSighting& sighting) {
  const InstanceKey key{sighting.long_name, sighting.id.value_or(0), sighting.parent_id.value_or(0),
                        index_of(sighting.dataset_name)};
  const std::size_t count = instances_.size();
  if (count == kMostInstances && !ids_.contains(key)) return instance_like(sighting);
  const auto [place, is_new] = ids_.try_emplace(key, static_cast<InstanceId>(count));
  if (is_new) {
    instances_.push_back({sighting.long_name,
                          sighting.dataset_name,
                          sighting.id,
                          sighting.parent_id,
                          {},
                          sighting.first_start,
                          sighting.last_start,
                          0});
    attribute_seen_.emplace_back();
  }
  return place->second;
}

/// Another of the same name, or the last one where none has that name.
InstanceId InstanceTable::instance_like(const InstanceSighting& sighting) {
  if (first_of_name_.empty()) {
    for (std::size_t index = 0; index < kMostInstances; ++index) {
      first_of_name_.try_emplace(instances_[index].long_name, static_cast<InstanceId>(index));
    }
  }
  calls_of_others_ += sighting.event_count;
  const auto alike = first_of_name_.find(sighting.long_name);
  return alike != first_of_name_.end() ? alike->second : static_cast<InstanceId>(kMostInstances - 1);
}

InstanceId InstanceTable::see(const InstanceSighting& sighting) {
  const InstanceId id = instance_of(sighting);
  const std::size_t index = index_of(id);
  IteratorInstance& instance = instances_[index];
  instance.event_count += sighting.event_count;
  instance.first_start = std::min(instance.first_start, sighting.first_start);
  instance.last_start = std::max(instance.last_start, sighting.last_start);
  std::size_t place = 0;  // events carry their attributes in one order
  for (const SeenAttribute& seen : sighting.attributes) {
    const auto is_it = [&](const Attribute& other) { return other.name == seen.attribute.name; };
    if (place >= instance.attributes.size() || !is_it(instance.attributes[place])) {
      const auto known = std::find_if(instance.attributes.begin(), instance.attributes.end(), is_it);
      place = static_cast<std::size_t>(known - instance.attributes.begin());
    }
    if (place == instance.attributes.size()) {
      instance.attributes.push_back(seen.attribute);
      attribute_seen_[index].push_back(seen.seen);
    } else if (Picoseconds& latest = attribute_seen_[index][place]; seen.seen >= latest) {
      instance.attributes[place].take_later(seen.attribute);
      latest = seen.seen;
    } else {
      instance.attributes[place].range.add(seen.attribute.range);
    }
    ++place;
  }
  return id;
}

IndexedBy<InstanceId, std::deque<IteratorInstance>> InstanceTable::take(Loss& loss) {
  if (calls_of_others_ > 0) {
    loss.add("calls_of_too_many_iterators", calls_of_others_);
    loss.notes.push_back("the trace has more than " + std::to_string(kMostInstances) +
                         " iterators, more than any real job: calls of others count as those of one that has the same "
                         "name, or of the last one");
  }
  return std::move(instances_);
}

}  // namespace doctor
