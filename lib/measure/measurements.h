#pragma once

#include <initializer_list>

#include "base/ids.h"
#include "base/time.h"
#include "base/work.h"
#include "measure/cycles/cycles.h"
#include "measure/iterators/iterator_measurement.h"
#include "measure/loaders/batch_making.h"
#include "measure/steps/steps.h"
#include "measure/timeline/timeline.h"
#include "measure/waits/call_times.h"
#include "measure/waits/critical_path.h"
#include "profile/device_profile.h"
#include "profile/profile.h"
#include "trace/recording_facts.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// A value for some of a trace's iterators, and `T{}` for all others. A pipeline stores values for its own iterators
/// only, because a trace may have a hundred thousand pipelines.
template <typename T>
class ByIterator {
 public:
  struct Entry {
    IteratorId id = kNoIterator;
    T value{};
  };

  ByIterator() = default;
  /// Values of the first iterators of the trace.
  ByIterator(std::initializer_list<T> values) {
    for (const T& value : values) entries_.push_back({static_cast<IteratorId>(entries_.size()), value});
  }

  /// Adds a value after those of all earlier iterators: ids must come in order.
  void append(IteratorId id, T value) { entries_.push_back({id, std::move(value)}); }

  /// `T{}` for an iterator that has no value.
  T operator[](IteratorId id) const {
    const auto place = std::lower_bound(entries_.begin(), entries_.end(), id, is_before);
    return place != entries_.end() && place->id == id ? place->value : T{};
  }
  T& operator[](IteratorId id) {
    auto place = std::lower_bound(entries_.begin(), entries_.end(), id, is_before);
    if (place == entries_.end() || place->id != id) place = entries_.insert(place, {id, T{}});
    return place->value;
  }

  /// The iterators that have a value, by id.
  std::span<const Entry> entries() const { return entries_; }

 private:
  static bool is_before(const Entry& entry, IteratorId id) { return entry.id < id; }

  std::vector<Entry> entries_;
};

/// An op that ran while calls waited for a function of which nothing ran.
struct OpBeside {
  /// the iterator whose function it is in; kNoIterator if none, as in a training step
  IteratorId iterator = kNoIterator;
  std::string op;
  Picoseconds time = 0;  ///< union over threads
};

/// The calls of one pipeline in one phase (warm-up or steady state), attributed.
struct PhaseMeasurement {
  std::size_t call_count = 0;
  Picoseconds waited = 0;               ///< sum of the latencies of the calls
  ByIterator<Picoseconds> critical;     ///< time that it held, by its own work and its function
  ByIterator<Picoseconds> in_function;  ///< the part in the user's function
  ByIterator<Sighting> longest_held;    ///< its longest piece of `critical`; an empty span if none
  Picoseconds handoff = 0;
  Picoseconds unseen = 0;
  Picoseconds outside = 0;

  IteratorId culprit = kNoIterator;  ///< the iterator with the most critical time; a frame only if nothing else has any
  /// The culprits of the first and the second half of the calls. If they differ, the culprit is not certain.
  std::array<IteratorId, 2> culprits_of_halves = {kNoIterator, kNoIterator};
  std::vector<FunctionOp> function_ops;  ///< of the culprit, longest first; without wrapper ops
  Picoseconds python = 0;                ///< the part of its function time in Python ops
  /// The part of the culprit's function time in which no op of the function ran on any thread. Common time of several
  /// calls that wait at once counts once.
  Picoseconds function_idle = 0;
  std::vector<OpBeside> beside;  ///< what ran in it; for a bare GetNext of a session run, on the host

  /// The average number of threads busy during the waits: in ops without Python, compute-pool regions and own work of
  /// synchronous iterators. It may exceed the cores, because ops that wait for a core count as busy.
  double busy_threads = 0;
  /// The part of these that are threads of the compute pool doing a part of another thread's op (traces of TF 2.12 and
  /// before do not show them).
  double pool_threads = 0;
  std::optional<double> queued_closures;  ///< see average_queued_closures()
};

/// A shuffle buffer that is filled inside the window.
struct ShuffleFill {
  IteratorId iterator = kNoIterator;
  std::uint64_t elements = 0;               ///< elements read into the buffer before the first came out
  Picoseconds duration = 0;                 ///< of the calls that filled it; 0 if the window cuts them off
  std::optional<std::int64_t> buffer_size;  ///< as configured
};

/// A cache that is still being written in the window: inputs below it are read.
struct CacheFill {
  IteratorId iterator = kNoIterator;
  std::uint64_t input_calls = 0;
  std::uint64_t calls = 0;
};

/// A pipeline that is made anew for every step or two, as by `next(iter(dataset))` in a loop. Each time its iterators
/// are created, its buffers are empty and its threads start.
struct RemadeIterator {
  std::size_t times = 0;                ///< how often it was made in the window
  Picoseconds making = 0;               ///< time in MakeIterator
  Picoseconds first_calls = 0;          ///< time in the first GetNext call of each
  Picoseconds releasing = 0;            ///< time until its threads had ended when Python released it
  Picoseconds span = 0;                 ///< from the first creation to the end of the last call
  std::vector<Interval> between_calls;  ///< creations and releases after the first call; sorted and disjoint

  /// The share of the time that making it anew takes.
  double share() const {
    return span > 0 ? static_cast<double>(making + first_calls + releasing) / static_cast<double>(span) : 0;
  }
};

/// The share of time that is spent in GetNext, and its uncertainty.
struct CadenceShare {
  double share = 0;
  /// The standard error of the share as a ratio of sums, from the variation of the calls (Cochran, Sampling Techniques,
  /// section 6.4); 0 for fewer than two calls.
  double error = 0;
  std::size_t beats = 0;  ///< calls that it rests on
  /// The call that is set aside, as an index into PipelineMeasurement::calls; nullopt if none is.
  std::optional<std::size_t> without_call;
};

/// The time that a consumer waits while no device computes. Launching is asynchronous: while a device works on what was
/// launched before, a wait costs nothing.
struct ExposedWaits {
  CadenceShare cadence;          ///< as PipelineMeasurement::cadence, over the exposed parts of the calls
  CadenceShare trimmed_cadence;  ///< the same without the call that is exposed longest
  Picoseconds time = 0;          ///< exposed time of the steady calls
};

/// One GetNext call of a consumer, and which iterator held it when.
struct CallDetail {
  std::size_t number = 0;  ///< within its pipeline in order of time, from 1
  Interval span;           ///< on the clock of PipelineMeasurement::calls
  LaneId lane{};           ///< the consumer's thread, index into HostMeasurement::threads
  /// In order of time, without gaps or overlaps; they sum to the latency exactly. Their lanes are indices into
  /// HostMeasurement::threads.
  std::vector<Segment> segments;

  Picoseconds latency() const { return span.end - span.start; }
};

/// A GetNext call that takes longer was waited for: one whose element is ready returns within 50 us. Source:
/// TensorFlow's guide "Analyze tf.data performance with the TF Profiler"
/// (tensorflow.org/guide/data_performance_analysis).
inline constexpr Picoseconds kSlowCall = 50 * kPicosecondsPerMicrosecond;

/// The work of a host's input pipelines in a part of the window, whether somebody waits for it or not.
struct InputLoad {
  Interval span;           ///< that of the pipeline's first steady calls; see measure_input_load()
  Picoseconds busy = 0;    ///< thread time of tf.data: own work of iterators, and ops of their functions without Python
  Picoseconds python = 0;  ///< when any of their functions runs Python, each moment once
  double busy_threads = 0;  ///< average number of busy threads, with any work: as PhaseMeasurement::busy_threads

  /// The average number of cores that tf.data keeps busy.
  double cores() const { return part_of_span(busy); }
  double python_share() const { return part_of_span(python); }

 private:
  double part_of_span(Picoseconds time) const {
    const Picoseconds length = span.end - span.start;
    return length > 0 ? static_cast<double>(time) / static_cast<double>(length) : 0;
  }
};

/// One pipeline: a root and everything below it, with the consumer's calls.
struct PipelineMeasurement {
  IteratorId root = kNoIterator;  ///< kNoIterator: only bare GetNext ops were seen
  bool is_device = false;         ///< runs for a device and gets its elements from a host pipeline
  /// a Dataset.reduce() goes over it: one call for a whole loop, not one for each step
  bool is_reduced = false;
  /// its calls are waits of another pipeline of the trace, so it is not ranked by itself
  bool feeds_another = false;
  /// its calls begin in none of the marked steps and in one pause between them at most, and those of another pipeline
  /// in most steps: a validation after an epoch, of which the window does not show how often it comes
  bool is_beside_training = false;
  std::vector<IteratorId> fed_by;   ///< roots of the pipelines that its waits were followed into, in order
  std::vector<IteratorId> members;  ///< iterators whose time can explain its waits, including hosts of device hops

  std::vector<Interval> calls;  ///< of the consumer, sorted by start
  /// The calls that are the first after the pipeline was made anew with the same iterators: the time since calls[i - 1]
  /// belongs to no step. Ascending indices, never 0. Empty if the pipeline is made anew for every step, because then
  /// that time belongs to the step.
  std::vector<std::size_t> iteration_starts;
  std::optional<RemadeIterator> remade;
  /// Python's frames of next() that hold the calls, sorted and disjoint; empty if none was recorded. The consumer waits
  /// in the whole frame, which includes the runtime before and after the call.
  std::vector<Interval> next_frames;
  /// The loader, "tf.data" or "Grain", if the calls are such frames because nothing of the loader was recorded.
  std::string next_of;
  std::size_t warmup_count = 0;  ///< calls [0, warmup_count) are warm-up
  Picoseconds total = 0;         ///< sum of all latencies
  Picoseconds median = 0;        ///< of the steady latencies
  Picoseconds p95 = 0;           ///< of all latencies
  Picoseconds max = 0;           ///< of all latencies
  std::size_t slowest = 0;       ///< index into `calls` of the longest; 0 if there are none
  LaneId slowest_lane{};         ///< the thread of the longest call
  std::size_t slow_count = 0;    ///< calls longer than kSlowCall
  Picoseconds trimmed_mean = 0;  ///< mean of the steady latencies without the longest

  /// True if the shares below have a real denominator: two calls, a step marker, or the whole step of a TF1 timeline.
  /// Otherwise the denominator is the window, whose length has nothing to do with the job.
  bool has_cadence = false;
  /// Steady latency divided by the time from call start to call start. If the pipeline is made anew for every step,
  /// creation and release count as latency: the consumer waits for them as it waits in GetNext. If the trace holds
  /// single session runs out of many (TF1), the denominator is the length of the runs that hold a call: the time
  /// between them was not traced.
  CadenceShare cadence;
  CadenceShare trimmed_cadence;  ///< the same without the slowest call
  /// If the trace shows when devices compute: the shares that judge the pipeline in place of those above.
  std::optional<ExposedWaits> exposed;
  /// The share of time inside the step markers that is spent in calls; nullopt if the markers miss the calls.
  std::optional<double> step_share;
  bool is_one_step = false;         ///< the only call lies in a step that the trace shows whole
  bool markers_miss_calls = false;  ///< see get_next_is_outside_markers()

  PhaseMeasurement warmup;
  PhaseMeasurement steady;
  IteratorId busiest = kNoIterator;  ///< the member with the most work(), waited for or not

  /// cores that tf.data may use, from the root's attributes; before TF 2.5 none has them
  std::optional<std::int64_t> cpu_budget;
  /// cores that other programs kept busy, from RecordingFacts::other_load; 0: none, or not known
  double cores_of_others = 0;
  IteratorId prefetch = kNoIterator;      ///< the Prefetch between the root and the first iterator that works
  IteratorId outermost = kNoIterator;     ///< first iterator below the frames: the last one in the user's code
  std::optional<Stalls> stalls;           ///< among the steady calls
  std::optional<PaceChange> pace_change;  ///< likewise
  std::optional<ShuffleFill> shuffle_fill;
  std::vector<CacheFill> cache_fills;
  std::optional<InputLoad> input_load;   ///< only for the host's first pipeline, and only if no device computes
  std::vector<CallDetail> call_details;  ///< in order of time; only requested ones
  /// Only if requested: windows of typical steps, of the median call and of the longest calls, longest first; or of the
  /// one call or step that was requested, if it exists.
  std::vector<TimelineWindow> timelines;

  /// The robust share of time that the consumer waits: the smaller of the two cadence shares, so that one outlier does
  /// not decide. If slow calls recur, they all belong to the job and count.
  double input_share() const {
    const bool stalls_again = stalls && stalls->are_recurring;
    return stalls_again ? judged_cadence().share : std::min(judged_cadence().share, judged_trimmed_cadence().share);
  }

  /// Whether it is an input of the job on its own.
  bool is_input_of_job() const { return !feeds_another && !is_beside_training; }

  /// The shares that decide whether the pipeline holds the job up.
  const CadenceShare& judged_cadence() const { return exposed ? exposed->cadence : cadence; }
  const CadenceShare& judged_trimmed_cadence() const { return exposed ? exposed->trimmed_cadence : trimmed_cadence; }
};

/// All numbers of one host's trace. Self-contained: the trace itself may be dropped.
struct HostMeasurement : TraceFacts {
  DeviceProfile device_profile;     ///< work of its devices; empty if that was not read
  std::uint64_t caller_thread = 0;  ///< Lane::thread_id of the consumer of the worst pipeline: it tells processes apart
  /// the trace has threads, ops or strings of tf.data, even if no iterator was seen at work
  bool mentions_tf_data = false;
  Picoseconds window_start = 0;  ///< where times for people count from
  Picoseconds window = 0;
  /// The largest file whose values over time are kept, in bytes, if this host's file is larger; see TraceNeeds.
  std::optional<std::uint64_t> history_limit;
  std::vector<std::string> threads;  ///< indexed by LaneId: their names
  /// Threads of a compute pool with events in the window. The runtime makes one for each core, but idle ones are not in
  /// the trace, so it does not show the number of cores.
  std::uint64_t compute_threads = 0;
  std::vector<StepMarker> step_markers;  ///< sorted by start
  bool has_session_runs = false;         ///< the markers are session runs of TF1 timelines
  IndexedBy<IteratorId, std::vector<IteratorMeasurement>> iterators;
  std::vector<PipelineMeasurement> pipelines;  ///< worst (most waited for) first
  /// From every event. Only for hosts with devices, or if TraceNeeds::profile asks for it; parts that only pages
  /// show are empty otherwise.
  std::optional<Profile> profile;
  std::optional<BatchMaking> batch_making;  ///< of a loader written in Python, if its frames show it
  StepTable steps;                          ///< empty without the profile
  CycleSample cycles;                       ///< what a model replays
  std::optional<CallTimes> call_times;      ///< only if TraceNeeds::call_times asks for it
  /// what is wrong with the file that names the lines of datasets; empty if nothing is
  std::string source_lines_fault;
  MemorySamples memory;          ///< memory of the process, from the file beside the trace
  RecordingFacts recording;      ///< from the file beside the trace
  Picoseconds unattributed = 0;  ///< latency that the segments missed: 0 by the invariant, reported if not

  /// The name of the machine if the trace has one, else of its files. Foreign text.
  std::string name() const;
  /// The iterators from this one's consumer to the root. It ends, whatever a damaged trace says about parents.
  std::vector<IteratorId> iterators_above(IteratorId iterator) const;
  /// The inputs of the iterator, and theirs in turn.
  std::vector<IteratorId> iterators_below(IteratorId iterator) const;
  /// The nearest iterator above this one that passes the test of an IteratorMeasurement; kNoIterator if none does.
  template <typename Test>
  IteratorId first_above(IteratorId iterator, const Test& test) const {
    return first_of(iterators_above(iterator), test);
  }
  /// The same for those below it.
  template <typename Test>
  IteratorId first_below(IteratorId iterator, const Test& test) const {
    return first_of(iterators_below(iterator), test);
  }
  /// Tests whether one of these iterators has any of the traits.
  bool has_above(IteratorId iterator, Trait traits) const {
    return first_above(iterator, [&](const OfKind& one) { return one.has(traits); }) != kNoIterator;
  }
  bool has_below(IteratorId iterator, Trait traits) const {
    return first_below(iterator, [&](const OfKind& one) { return one.has(traits); }) != kNoIterator;
  }
  template <typename Test>
  IteratorId first_of(const std::vector<IteratorId>& ids, const Test& test) const {
    const auto found = std::find_if(ids.begin(), ids.end(), [&](IteratorId id) { return test(iterators[id]); });
    return found == ids.end() ? kNoIterator : *found;
  }
};

/// Every number that a rule or a report may use, for all files of a run.
struct Measurements {
  std::vector<HostMeasurement> hosts;  ///< in the order given: one for each file; all TF1 timelines together are one
  std::vector<std::string> left_out;   ///< names of hosts that were left out on request; see keep_host()

  /// Tests whether any file shows an iterator or a GetNext call.
  bool shows_tf_data() const;
};

/// The file of a host without its folder, or "timeline_0.json and 5 other files". The first by name is given, so that
/// the order does not matter. Foreign text.
std::string name_of_files(const HostMeasurement& host);

/// Busy threads during the waits of the phase as a share of the CPU budget; nullopt without a budget. It is capped at
/// 1, because ops that wait for a core count as running.
std::optional<double> cpu_utilization(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase);

/// The category of an iterator's work, in the terms of TensorFlow's guide "Optimize TensorFlow performance using the
/// Profiler" (tensorflow.org/guide/profiler, "Input pipeline analyzer").
enum class InputWork : std::uint8_t {
  read_on_demand,   ///< reads files while its consumer waits
  read_in_advance,  ///< reads files on a background thread, ahead of its consumer, or keeps what was read
  preprocessing,    ///< transforms elements
  enqueue,          ///< hands elements to a device
  other,            ///< makes data without files, buffers elements, or only frames other iterators
};
inline constexpr std::size_t kInputWorkCount = 5;  ///< values of InputWork

/// The category of one iterator, from its kind and the iterators above it, whatever version the runtime appends to
/// their names: `FixedLengthRecordV2` reads files, and below `ParallelInterleaveV4` it reads in advance.
InputWork work_of(const HostMeasurement& host, const IteratorMeasurement& iterator);

}  // namespace doctor
