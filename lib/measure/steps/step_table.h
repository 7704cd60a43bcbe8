#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "measure/measurements.h"
#include "measure/steps/steps.h"

namespace doctor {

/// The average over the steps that count, and their variation. All 0 without steps.
struct StepSummary {
  std::size_t count = 0;
  double average = 0;    ///< picoseconds, as the members below
  double deviation = 0;  ///< standard deviation of the population, as XProf's
  Picoseconds shortest = 0;
  Picoseconds longest = 0;
  std::array<double, kStepPartCount> parts{};  ///< averages, indexed by StepPart
  /// The share of input in the time of all these steps together; nullopt without steps.
  std::optional<double> input_share;
};

/// Tests whether the consumer calls GetNext before its steps are marked, as `for batch in dataset: with Trace(...)`
/// does: most markers hold no call, and a call begins in most pauses between two markers. Such markers say nothing
/// about waiting. Both arguments are sorted by start; fewer than three markers say nothing.
bool get_next_is_outside_markers(std::span<const StepMarker> markers, std::span<const Interval> calls);

/// Marks the pipelines of a host that another loop than the marked one takes its elements from: see
/// PipelineMeasurement::is_beside_training.
void find_pipelines_beside_training(std::span<const StepMarker> markers, std::span<PipelineMeasurement> pipelines);

/// The calls that the job of the host waits for, sorted and disjoint. Calls of pipelines that feed another are part of
/// its waits.
std::vector<Interval> waits_of(const HostMeasurement& host);

/// The steps of a host that was measured with its profile.
StepTable measure_steps(const HostMeasurement& host);

/// A time within the steps that averages count, as a share of these steps; 0 without steps.
double share_of_steps(Picoseconds time, const StepTable& table);

/// The part of the intervals (disjoint, sorted) that lies in steps that averages count, each moment once.
Picoseconds time_in_steps(std::span<const Interval> intervals, const StepTable& table);

/// The number of steps that averages count and that overlap the intervals (disjoint, sorted).
std::size_t steps_with(std::span<const Interval> intervals, const StepTable& table);

/// The summary of all hosts together: each step counts once.
StepSummary summarize_steps(std::span<const StepTable> hosts);

/// The time that a stage of the pipeline, or the training itself, needs for one step.
struct StageWork {
  IteratorId stage = kNoIterator;  ///< kNoIterator: the training
  /// Works of one worker are done one after another, by the thread that makes elements for one stage or by the thread
  /// of the training loop. Those of different workers are done at the same time.
  std::size_t worker = 0;
  double before = 0;         ///< us a step that the worker needs for its other works, which come before this one
  double time = 0;           ///< us a step: per element, times elements a step, over `at_once`
  std::int64_t at_once = 1;  ///< elements that it works on at the same time

  /// When the worker is done with it, in us from where its step begins.
  double end() const { return before + time; }
};

/// What a step takes and what it is made of: whoever works longest sets the pace.
struct StepWork {
  double step = 0;  ///< us from one call of the consumer to the next, the mean; 0: not known
  /// Inputs before the stages that take their elements, the training last. Empty where the step is not known.
  std::vector<StageWork> stages;
};

/// The work of the stages in the steady steps of a pipeline, by the clock: waits for a core and for a thread of the
/// pool are in it, waits for elements are not. An element's time is the mean of those that were made from beginning to
/// end in the recording, and a step has as many elements as the threads that take them do in whole elements of their
/// own. So it does not matter what was in buffers where the recording begins or ends.
StepWork work_of_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// A step by the markers of the host and the lines "Steps" of its devices.
struct MarkedStep {
  Interval span;
  std::optional<std::int64_t> number;  ///< as in the marker
};

/// The steps that a trace marks, in order of time and never nested. A marker inside another one (a Keras step around
/// the step of a custom loop) is the same step. Steps without a number count where there is no numbered one: these are
/// the Keras steps that the profiler cut at its start and end. A device may still work on a step when the host has left
/// it: then the step is the device's. Source: StepDetails::StepTime() of xprof/utils/event_span.cc.
std::vector<MarkedStep> marked_steps(const HostMeasurement& host);

/// For each step of a device (in the order of Profile::device_steps), the index of the host's marker that launched it
/// (in HostMeasurement::step_markers); nullopt if no marker did. Marker and device step are matched by the profiler's
/// group, else by the number that the host gave the step, else by overlap in time. A number of the profiler's own does
/// not match: where it equals that of a marker, the marker is another step's.
std::vector<std::optional<std::size_t>> markers_of_device_steps(const HostMeasurement& host);

}  // namespace doctor
