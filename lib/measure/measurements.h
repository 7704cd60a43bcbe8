#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/work.h"
#include "measure/attribute_history.h"
#include "measure/by_iterator.h"
#include "measure/call_times.h"
#include "measure/critical_path.h"
#include "measure/cycles.h"
#include "measure/pace.h"
#include "measure/steps.h"
#include "measure/timeline.h"
#include "profile/device_profile.h"
#include "profile/profile.h"
#include "trace/memory_samples.h"
#include "trace/recording_facts.h"
#include "trace/source_lines.h"
#include "trace/trace.h"
#include "tree/dataset_kinds.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// A value of an iterator attribute: a number or a text.
struct AttributeValue {
  std::string name;
  std::optional<std::int64_t> number;
  std::string text;  ///< set if there is no number
};

/// Where in the trace something was seen: a part of one thread's time.
struct Sighting {
  Interval span;
  LaneId lane{};  ///< into HostMeasurement::threads

  Picoseconds duration() const { return span.end - span.start; }
  /// Whether it is longer than the other; of two alike the earlier one, so that no order of adding up matters.
  bool outweighs(const Sighting& other) const {
    if (duration() != other.duration()) return duration() > other.duration();
    return duration() > 0 && (span.start != other.span.start ? span.start < other.span.start : lane < other.lane);
  }
};

/// Time in one op type of a function.
struct FunctionOp {
  std::string op;
  /// On the critical path of calls (PhaseMeasurement): the union over threads, so parallel ops of one type count once.
  /// In the whole window (IteratorMeasurement): time of threads.
  Picoseconds self = 0;
};

/// One of the datasets that an interleave works on: mostly a file.
struct InterleavedDataset {
  std::uint64_t number = 0;  ///< in the order in which they were opened, from 0 where the job began
  std::uint64_t calls = 0;
  Picoseconds total = 0;         ///< sum of the durations of its calls
  Picoseconds element_time = 0;  ///< mean of them without the longest quarter: the opening of a file, or stalls
};

/// What one logical iterator did over the whole window.
struct IteratorMeasurement {
  std::string long_name;
  std::string short_name;
  /// What is known about the kind of dataset that `short_name` says; null where that is still to be looked up.
  const DatasetKind* kind = nullptr;
  std::string dataset_name;
  /// Where the user wrote it, or the parts that TF fused, in the order of her code; see add_source_lines().
  std::vector<SourceLine> source_lines;
  std::optional<std::uint64_t> id;         ///< of the first instance
  std::optional<std::uint64_t> parent_id;  ///< of the first instance
  IteratorId parent = kNoIterator;
  IteratorId root = kNoIterator;
  std::vector<IteratorId> children;
  std::uint32_t depth = 0;
  bool is_async = false;
  bool is_source = false;
  bool is_device_hop = false;  ///< a Generator that fetches from the host pipeline of a device pipeline: no source
  std::vector<AttributeValue> attributes;  ///< the values seen last, sorted by name
  IteratorHistory history;                 ///< only if the trace was read with ReadOptions::attribute_history

  std::uint64_t calls = 0;
  Picoseconds total = 0;  ///< sum of the durations of its calls
  Picoseconds self = 0;   ///< of that: in no nested iterator call and, if asynchronous, not waiting
  Picoseconds wait = 0;   ///< of that: waiting for other threads (asynchronous iterators only)
  /// What its functions do beside its calls (asynchronous iterators only; of the others it is part of `self`): ops,
  /// Python among them, as time of threads. Two threads at work for 1 ms are 2 ms; an op inside of another on one
  /// thread counts once; what a function does outside of ops is not recorded.
  Picoseconds function = 0;
  std::uint64_t instances = 0;  ///< iterator objects folded into this one
  Sighting longest_call;
  std::uint64_t epochs = 0;  ///< distinct indices of Repeat in the long names of its instances
  /// Of a parallel interleave: what it works on, by number. See interleaved_datasets().
  std::vector<InterleavedDataset> interleaved;
  /// Of its functions in the whole window, whoever waited: types of ops, longest first. See function_types_of().
  std::vector<FunctionOp> function_ops;
  /// Those of them that draw random numbers or augment by chance, sorted.
  std::vector<std::string> random_ops;

  /// What it does itself, on whatever threads; waiting for others is not work.
  Picoseconds work() const { return self + function; }

  /// The value of an attribute; null if it has none.
  const AttributeValue* find(std::string_view attribute) const;
  /// The same as a number; nullopt if it has none, or a text.
  std::optional<std::int64_t> number(std::string_view attribute) const;
  /// Empty if it has none, or a number.
  std::string_view text(std::string_view attribute) const;
};

/// Whether AUTOTUNE chooses the iterator's parallelism or buffer; nullopt where the trace does not say (a prefetch of
/// TF 2.4, a TF1 timeline, a kind that has neither).
std::optional<bool> is_autotuned(const IteratorMeasurement& iterator);

/// What ran while calls waited for a function of which nothing ran.
struct OpBeside {
  IteratorId iterator = kNoIterator;  ///< whose function it is in; kNoIterator: none's, as in a training step
  std::string op;
  Picoseconds time = 0;  ///< union over threads
};

/// The calls of one pipeline in one phase (warm-up or steady state), attributed.
struct PhaseMeasurement {
  std::size_t call_count = 0;
  Picoseconds waited = 0;               ///< sum of the latencies of the calls
  ByIterator<Picoseconds> critical;     ///< time held by it, own work and function
  ByIterator<Picoseconds> in_function;  ///< of that, in the user's function
  ByIterator<Sighting> longest_held;    ///< its longest piece of `critical`; empty span if none
  Picoseconds handoff = 0;
  Picoseconds unseen = 0;
  Picoseconds outside = 0;

  IteratorId culprit = kNoIterator;  ///< the iterator with the most critical time; frames only if nothing else
  /// The same of the first and the second half of the calls by themselves: where they differ, the culprit is not sure.
  std::array<IteratorId, 2> culprits_of_halves = {kNoIterator, kNoIterator};
  std::vector<FunctionOp> function_ops;  ///< of the culprit, longest first; wrapper ops left out
  Picoseconds python = 0;                ///< of its function time: in Python ops
  /// The function time of the culprit in two parts: an op of the function ran on some thread, or none did. They sum to
  /// it but where several calls wait at once, whose common time counts once here.
  Picoseconds function_active = 0;
  Picoseconds function_idle = 0;
  std::vector<OpBeside> beside;  ///< what ran in it; of a bare GetNext of a session run: on the host

  /// Threads busy on average during the waits: ops without Python, compute-pool regions and own work of synchronous
  /// iterators. Raw: may exceed the cores, because ops that wait for a core count as busy.
  double busy_threads = 0;
  /// Of these: threads of the compute pool that did a part of an op of another thread (traces of TF 2.12 and before do
  /// not show them).
  double pool_threads = 0;
  std::optional<double> queued_closures;  ///< see average_queued_closures()
};

/// A shuffle buffer that is filled inside the window.
struct ShuffleFill {
  IteratorId iterator = kNoIterator;
  std::uint64_t elements = 0;               ///< read into the buffer before the first element came out
  Picoseconds duration = 0;                 ///< of the calls that filled it; 0 if they are cut off by the window
  std::optional<std::int64_t> buffer_size;  ///< as configured
};

/// A cache that is still being written in the window: inputs are read below it.
struct CacheFill {
  IteratorId iterator = kNoIterator;
  std::uint64_t input_calls = 0;
  std::uint64_t calls = 0;
};

/// A pipeline that is made anew for every step or two, as `next(iter(dataset))` in a loop does: each time its iterators
/// are made, its buffers are empty and its threads begin from nothing.
struct RemadeIterator {
  std::size_t times = 0;                ///< that it was made in the window
  Picoseconds making = 0;               ///< of that: in MakeIterator
  Picoseconds first_calls = 0;          ///< and in the first GetNext call of each
  Picoseconds releasing = 0;            ///< and until its threads had ended when Python let go of it
  Picoseconds span = 0;                 ///< from the first making to the end of the last call
  std::vector<Interval> between_calls;  ///< makings and releases after the first call; sorted and disjoint

  /// The part of the time that making it anew takes.
  double share() const {
    return span > 0 ? static_cast<double>(making + first_calls + releasing) / static_cast<double>(span) : 0;
  }
};

/// A part of the time that is spent in GetNext, and how sure it is.
struct CadenceShare {
  double share = 0;
  /// Standard error of the share as a ratio of sums, from how the calls differ among each other (Cochran, Sampling
  /// Techniques, section 6.4); 0 for fewer than two beats.
  double error = 0;
  std::size_t beats = 0;  ///< calls that it rests on
  /// The call that is set aside, as an index into PipelineMeasurement::calls; nullopt if none is.
  std::optional<std::size_t> without_call;
};

/// How much of the time a consumer waits while no device computes. Launching is asynchronous: while a device works on
/// what was launched before, a wait costs nothing.
struct ExposedWaits {
  CadenceShare cadence;          ///< as PipelineMeasurement::cadence, of the exposed parts of the calls
  CadenceShare trimmed_cadence;  ///< the same without the call that is exposed longest
  Picoseconds time = 0;          ///< of the steady calls
};

/// One GetNext call of a consumer and who held it when.
struct CallDetail {
  std::size_t number = 0;  ///< within its pipeline in order of time, from 1
  Interval span;           ///< on the clock of PipelineMeasurement::calls
  LaneId lane{};           ///< the consumer's thread, index into HostMeasurement::threads
  /// In order of time, without gaps or overlaps; they sum to the latency exactly. Their lanes are indices into
  /// HostMeasurement::threads.
  std::vector<Segment> segments;

  Picoseconds latency() const { return span.end - span.start; }
};

/// A GetNext that takes longer was waited for: within 50 us it had its element ready. Source: TensorFlow's guide
/// "Analyze tf.data performance with the TF Profiler" (tensorflow.org/guide/data_performance_analysis).
inline constexpr Picoseconds kSlowCall = 50 * kPicosecondsPerMicrosecond;

/// What the input pipelines of a host do, whether somebody waits for it or not, in a part of the window.
struct InputLoad {
  Interval span;           ///< of the first steady calls of the pipeline; see measure_input_load()
  Picoseconds busy = 0;    ///< thread time of tf.data: own work of iterators, and ops of their functions without Python
  Picoseconds python = 0;  ///< when any function of them runs Python, each moment once
  double busy_threads =
      0;  ///< threads that are busy on average, with whatever it is: as PhaseMeasurement::busy_threads

  /// Cores that tf.data keeps busy on average.
  double cores() const { return part_of_span(busy); }
  double python_share() const { return part_of_span(python); }

 private:
  double part_of_span(Picoseconds time) const {
    const Picoseconds length = span.end - span.start;
    return length > 0 ? static_cast<double>(time) / static_cast<double>(length) : 0;
  }
};

/// One pipeline: a root and all below it, with the consumer's calls.
struct PipelineMeasurement {
  IteratorId root = kNoIterator;  ///< kNoIterator: only bare GetNext ops were seen
  bool is_device = false;         ///< runs for a device and gets its elements from a host pipeline
  bool is_reduced = false;        ///< a Dataset.reduce() goes over it: a whole loop, not a call for each step
  bool feeds_another = false;     ///< its calls are the waits of another pipeline of the trace: not ranked on its own
  /// Its calls begin in none of the marked steps and in few of the pauses between them, and those of another pipeline
  /// in most steps: a validation between two epochs, which is not what the training waits for.
  bool is_beside_training = false;
  std::vector<IteratorId> fed_by;   ///< roots of the pipelines that its waits were followed into, in order
  std::vector<IteratorId> members;  ///< the iterators whose time can explain its waits, hosts of device hops included

  std::vector<Interval> calls;  ///< of the consumer, sorted by start
  /// calls[i] is the first of a pipeline that was made anew for the same iterators: what passed since calls[i - 1]
  /// belongs to no step. Ascending, never 0. Empty where it is made anew for every step: that belongs to the step.
  std::vector<std::size_t> iteration_starts;
  std::optional<RemadeIterator> remade;
  /// Python's frames of next() that hold the calls, sorted and disjoint; empty where none was recorded. The consumer
  /// waits in them, for the runtime before and after the call as well.
  std::vector<Interval> next_frames;
  /// Where the calls are such frames themselves, since nothing of the loader was recorded: "tf.data", "Grain".
  std::string next_of;
  std::size_t warmup_count = 0;  ///< the first calls[0..warmup_count) are warm-up
  Picoseconds total = 0;         ///< sum of all latencies
  Picoseconds median = 0;        ///< of the steady latencies
  Picoseconds p95 = 0;           ///< of all latencies
  Picoseconds max = 0;           ///< of all latencies
  std::size_t slowest = 0;       ///< index into `calls` of the longest; 0 if there are none
  LaneId slowest_lane{};         ///< the thread of that one
  std::size_t slow_count = 0;    ///< calls longer than kSlowCall
  Picoseconds trimmed_mean = 0;  ///< of the steady latencies without the longest

  /// Whether the shares below have a real denominator: two calls, a step marker, or the whole step of a TF1 timeline.
  /// Otherwise the window is the denominator, whose length has nothing to do with the job.
  bool has_cadence = false;
  /// Steady latency / time from call start to call start. Where the pipeline is made anew for every step, the making
  /// and the release count as latency: the consumer waits for them as it waits in GetNext. Where the trace holds single
  /// session runs out of many (TF1), / length of the runs that hold a call instead: what passed between them was not
  /// traced.
  CadenceShare cadence;
  CadenceShare trimmed_cadence;  ///< the same without the slowest call
  /// Where the trace shows what devices compute: the shares by which the pipeline is judged instead of those above.
  std::optional<ExposedWaits> exposed;
  /// Part of the time inside the step markers that is spent in calls; nothing where the markers miss the calls.
  std::optional<double> step_share;
  std::size_t step_count = 0;       ///< step markers that hold a call
  bool is_one_step = false;         ///< the only call lies in a step that the trace shows whole
  bool markers_miss_calls = false;  ///< see get_next_is_outside_markers()

  PhaseMeasurement warmup;
  PhaseMeasurement steady;
  IteratorId busiest = kNoIterator;  ///< the member with the most work(), waited for or not

  std::optional<std::int64_t> cpu_budget;  ///< cores that tf.data may use, as the root says; before TF 2.5 none does
  double cores_of_others = 0;  ///< kept busy by other programs, as RecordingFacts::other_load says; 0: none, not known
  IteratorId prefetch = kNoIterator;      ///< Prefetch between the root and the first working iterator
  IteratorId outermost = kNoIterator;     ///< first iterator below the frames: what the user wrote last
  std::optional<Stalls> stalls;           ///< among the steady calls
  std::optional<PaceChange> pace_change;  ///< likewise
  std::optional<ShuffleFill> shuffle_fill;
  std::vector<CacheFill> cache_fills;
  std::optional<InputLoad> input_load;   ///< only of the host's first pipeline, and only where no device computes
  std::vector<CallDetail> call_details;  ///< in order of time; only those that were asked for
  /// Only if asked for: of typical steps, of the median call and of the longest ones, longest first; or of the one call
  /// or step that was asked for, if it is there.
  std::vector<TimelineWindow> timelines;

  /// Robust share of the time that the consumer waits: the smaller of the two cadence shares, so that one outlier makes
  /// no verdict; but where slow calls come again and again, all of them belong to the job.
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

/// All numbers of one host's trace. Free-standing: the trace itself may be dropped.
struct HostMeasurement {
  std::vector<TraceFile> files;  ///< never empty; several where each holds a step of the run
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  DeviceProfile device_profile;  ///< what they did; empty if that was not read
  std::uint64_t event_count = 0;
  std::uint64_t iterator_event_count = 0;
  std::string framework;            ///< that recorded the trace: "JAX", "PyTorch"; empty: TensorFlow, or unknown
  std::int64_t recorded_ns = 0;     ///< nanoseconds since 1970 where the recording began; 0 if the trace does not say
  std::uint64_t caller_thread = 0;  ///< Lane::thread_id of who calls the worst pipeline: it tells processes apart
  bool mentions_tf_data = false;    ///< threads, ops or strings of tf.data, even if no iterator was seen at work
  std::int64_t origin_ns = 0;  ///< of the trace, where times of spans count from: nanoseconds on the clock of its file
  Picoseconds window_start = 0;  ///< where a person's times count from
  Picoseconds window = 0;
  Loss loss;
  /// Bytes of the largest file whose values over time are kept, where this host's is larger; see AnalysisOptions.
  std::optional<std::uint64_t> history_limit;
  std::vector<std::string> threads;  ///< indexed by LaneId: their names
  /// Threads of a compute pool with events in the window. The runtime makes one for each core, but those that rested
  /// are not in the trace, so the machine's cores are not known from it.
  std::uint64_t compute_threads = 0;
  std::vector<StepMarker> step_markers;        ///< sorted by start
  bool has_session_runs = false;               ///< these are the session runs of TF1 timelines
  std::vector<IteratorMeasurement> iterators;  ///< indexed by IteratorId
  std::vector<PipelineMeasurement> pipelines;  ///< worst (most waited for) first
  /// What every event says. Only of hosts with devices, or if AnalysisOptions::profile asks for it; what only
  /// pages show is empty otherwise.
  std::optional<Profile> profile;
  StepTable steps;                         ///< empty without the profile
  CycleSample cycles;                      ///< what a model replays
  std::optional<CallTimes> call_times;     ///< only if MeasureOptions::call_times asks for it
  std::string source_lines_fault;          ///< what is wrong with the file that names the lines of datasets; or empty
  MemorySamples memory;                    ///< of the process, from the file beside the trace
  std::optional<double> clocked_slowdown;  ///< by recording it: RecordingFacts::slowdown
  std::optional<WholeRun> whole_run;       ///< RecordingFacts::whole_run
  std::optional<RecordedScript> script;    ///< RecordingFacts::script
  Picoseconds unattributed = 0;            ///< latency that the segments missed: 0 by the invariant, reported if not
};

/// Every number that a rule or a report may use, for all files of a run.
struct Measurements {
  std::vector<HostMeasurement> hosts;  ///< in the order given: one a file, all TF1 timelines together one
  std::vector<std::string> left_out;   ///< names of hosts that are not among them on request; see keep_host()
};

/// The file of a host without its folder, "timeline_0.json and 5 other files" where there are several: the first by
/// name, so that their order does not matter. Foreign text.
std::string name_of_files(const HostMeasurement& host);

/// Name of the machine if the trace has one, else of its files. Foreign text.
std::string host_name(const HostMeasurement& host);

/// Whether any file shows an iterator or a GetNext call.
bool shows_tf_data(const Measurements& measurements);

/// From the iterator's consumer to the root. Ends, whatever a damaged trace says about parents.
std::vector<IteratorId> iterators_above(const HostMeasurement& host, IteratorId iterator);

/// The inputs of the iterator, and theirs.
std::vector<IteratorId> iterators_below(const HostMeasurement& host, IteratorId iterator);

/// Busy threads during the waits of the phase, capped at the CPU budget, as a share of it; nullopt without a budget.
/// The cap: ops that wait for a core count as running.
std::optional<double> cpu_utilization(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase);

}  // namespace doctor
