#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"
#include "measure/steps.h"

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

}  // namespace doctor
