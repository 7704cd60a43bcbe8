#include "measure/steps/step_table.h"

#include <cmath>

#include "base/intervals.h"

namespace doctor {
namespace {

/// Fewer steps than this are all counted: without the first and the last too little would be left.
constexpr std::size_t kMostWithoutBoundary = 5;

/// With fewer markers than this a training loop runs inside of one (a tf.function over a dataset): GetNext calls tell
/// its steps.
constexpr std::size_t kFewestMarkers = 3;

using Activities = std::array<std::vector<Interval>, kStepPartCount>;

Activities activities_of(const HostMeasurement& host) {
  Activities activities;
  const auto at = [&](StepPart part) -> std::vector<Interval>& { return activities[static_cast<std::size_t>(part)]; };
  std::vector<Interval> input = waits_of(host);
  if (host.profile) {
    const DeviceSpans& devices = host.profile->devices;
    at(StepPart::device_compute_16) = devices.compute_16;
    at(StepPart::device_compute_32) = devices.compute_32;
    at(StepPart::output) = devices.copy_to_host;
    at(StepPart::device_to_device) = devices.between_devices;
    at(StepPart::copy_wait) = devices.copy_wait;
    input.insert(input.end(), devices.copy_to_device.begin(), devices.copy_to_device.end());
    const std::vector<Interval>& staging = host.profile->host.staging;
    input.insert(input.end(), staging.begin(), staging.end());
    at(StepPart::kernel_launch) = host.profile->host.launch;
    at(StepPart::compilation) = host.profile->host.compile;
    at(StepPart::host_compute) = host.profile->host.compute;
  }
  at(StepPart::input) = merged(std::move(input));
  return activities;
}

/// Takes `taken` out of `rest`; both are sorted and disjoint. Returns how much was in both.
Picoseconds take_out(std::span<const Interval> taken, std::vector<Interval>& rest) {
  std::vector<Interval> left;
  Picoseconds both = 0;
  const Picoseconds first = rest.empty() ? 0 : rest.front().start;
  auto next = std::partition_point(taken.begin(), taken.end(), [&](Interval t) { return t.end <= first; });
  for (const Interval piece : rest) {
    Picoseconds start = piece.start;
    while (next != taken.end() && next->end <= start) ++next;
    for (auto other = next; other != taken.end() && other->start < piece.end; ++other) {
      const Interval common = {std::max(start, other->start), std::min(piece.end, other->end)};
      if (common.start > start) left.push_back({start, common.start});
      both += common.end - common.start;
      start = common.end;
    }
    if (start < piece.end) left.push_back({start, piece.end});
  }
  rest = std::move(left);
  return both;
}

void break_down(const Activities& activities, StepMeasurement& step) {
  std::vector<Interval> rest = {step.span};
  for (std::size_t part = 0; part < kStepPartCount; ++part) step.parts[part] = take_out(activities[part], rest);
  step.parts[static_cast<std::size_t>(StepPart::other)] = total_length(rest);
}

std::vector<StepMeasurement> steps_of_markers(const HostMeasurement& host) {
  std::vector<StepMeasurement> steps;
  for (const MarkedStep& marked : marked_steps(host)) steps.push_back({marked.span, marked.number});
  return steps;
}

/// Of several pipelines the one that is waited for most has the beat; null where none was called twice.
const PipelineMeasurement* pipeline_with_beat(const HostMeasurement& host) {
  const auto pipeline = std::find_if(host.pipelines.begin(), host.pipelines.end(), [](const PipelineMeasurement& one) {
    return !one.feeds_another && one.calls.size() > 1;
  });
  return pipeline == host.pipelines.end() ? nullptr : &*pipeline;
}

/// From the start of a call to that of the next.
std::vector<StepMeasurement> steps_of_cadence(const PipelineMeasurement& pipeline) {
  std::vector<StepMeasurement> steps;
  steps.reserve(pipeline.calls.size() - 1);
  const std::vector<std::size_t>& restarts = pipeline.iteration_starts;
  for (std::size_t index = 0; index + 1 < pipeline.calls.size(); ++index) {
    if (std::binary_search(restarts.begin(), restarts.end(), index + 1)) continue;
    steps.push_back(
        {{pipeline.calls[index].start, pipeline.calls[index + 1].start}, static_cast<std::int64_t>(index) + 1});
  }
  return steps;
}

/// From the start of a run to that of the next; the last ends with its run.
std::vector<StepMeasurement> steps_of_programs(std::span<const Interval> runs) {
  std::vector<StepMeasurement> steps;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    steps.push_back({{runs[index].start, index + 1 < runs.size() ? runs[index + 1].start : runs[index].end},
                     static_cast<std::int64_t>(index) + 1});
  }
  return steps;
}

/// The spans of the markers that lie in no other.
std::vector<Interval> outer_markers(std::span<const StepMarker> markers) {
  std::vector<Interval> outer;
  for (const StepMarker& marker : markers) {
    if (outer.empty() || marker.end() > outer.back().end) outer.push_back({marker.start, marker.end()});
  }
  return outer;
}

/// Where calls of a consumer begin, beside the marked steps of a loop.
struct CallsInSteps {
  std::size_t steps = 0;
  std::size_t steps_with_call = 0;
  std::size_t pauses_with_call = 0;  ///< between two steps

  bool are_in_most_steps() const { return 2 * steps_with_call >= steps; }
  /// The loop takes none of them, and the window has a single pause with calls: it does not show how often that comes.
  /// A validation that is seen several times costs the job what it costs the window.
  bool are_of_one_pause() const { return steps_with_call == 0 && pauses_with_call <= 1; }
};

CallsInSteps find_calls_in_steps(std::span<const StepMarker> markers, std::span<const Interval> calls) {
  const std::vector<Interval> steps = outer_markers(markers);
  CallsInSteps found;
  found.steps = steps.size();
  if (steps.empty()) return found;
  std::size_t next = 0;
  const auto begins_before = [&](Picoseconds time) {
    const std::size_t first = next;
    while (next < calls.size() && calls[next].start < time) ++next;
    return next > first;
  };
  begins_before(steps.front().start);
  for (std::size_t index = 0; index < steps.size(); ++index) {
    if (begins_before(steps[index].end)) ++found.steps_with_call;
    if (index + 1 < steps.size() && begins_before(steps[index + 1].start)) ++found.pauses_with_call;
  }
  return found;
}

}  // namespace

std::vector<Interval> waits_of(const HostMeasurement& host) {
  std::vector<Interval> waits;
  for (const PipelineMeasurement& pipeline : host.pipelines) {
    if (!pipeline.feeds_another) waits.insert(waits.end(), pipeline.calls.begin(), pipeline.calls.end());
  }
  return merged(std::move(waits));
}

bool get_next_is_outside_markers(std::span<const StepMarker> markers, std::span<const Interval> calls) {
  const CallsInSteps found = find_calls_in_steps(markers, calls);
  if (found.steps < kFewestMarkers) return false;
  return !found.are_in_most_steps() && 2 * found.pauses_with_call > found.steps - 1;
}

void find_pipelines_beside_training(std::span<const StepMarker> markers, std::span<PipelineMeasurement> pipelines) {
  std::vector<CallsInSteps> found;
  found.reserve(pipelines.size());
  bool has_training = false;
  for (const PipelineMeasurement& pipeline : pipelines) {
    found.push_back(find_calls_in_steps(markers, pipeline.calls));
    const bool is_training = found.back().steps >= kFewestMarkers && found.back().are_in_most_steps();
    has_training = has_training || (is_training && !pipeline.feeds_another);
  }
  for (std::size_t index = 0; index < pipelines.size(); ++index) {
    pipelines[index].is_beside_training = has_training && found[index].are_of_one_pause();
  }
}

StepTable measure_steps(const HostMeasurement& host) {
  StepTable table;
  const PipelineMeasurement* const beat = pipeline_with_beat(host);
  if (beat != nullptr && beat->markers_miss_calls) {
    table.steps = steps_of_cadence(*beat);
    table.source = StepSource::cadence_beside_markers;
  } else {
    table.steps = steps_of_markers(host);
    table.source = host.has_session_runs ? StepSource::session_runs : StepSource::markers;
  }
  if (beat != nullptr && table.steps.size() < kFewestMarkers) {
    std::vector<StepMeasurement> cadence = steps_of_cadence(*beat);
    if (cadence.size() > table.steps.size()) {
      table.steps = std::move(cadence);
      table.source = StepSource::cadence;
    }
  }
  if (table.steps.empty() && host.profile && host.profile->program_runs.size() >= kFewestMarkers) {
    table.steps = steps_of_programs(host.profile->program_runs);
    table.source = StepSource::programs;
  }
  if (table.steps.empty()) table.source = StepSource::none;
  const Activities activities = activities_of(host);
  for (StepMeasurement& step : table.steps) break_down(activities, step);
  if (table.steps.size() > kMostWithoutBoundary) {
    table.steps.front().is_boundary = table.steps.back().is_boundary = true;
  }
  return table;
}

double share_of_steps(Picoseconds time, const StepTable& table) {
  const StepSummary summary = summarize_steps({&table, 1});
  const double all = summary.average * static_cast<double>(summary.count);
  return all > 0 ? static_cast<double>(time) / all : 0;
}

Picoseconds time_in_steps(std::span<const Interval> intervals, const StepTable& table) {
  std::vector<Interval> steps;
  for (const StepMeasurement& step : table.steps) {
    if (!step.is_boundary) steps.push_back(step.span);
  }
  return total_length(intersected(intervals, merged(std::move(steps))));
}

std::size_t steps_with(std::span<const Interval> intervals, const StepTable& table) {
  std::size_t count = 0;
  for (const StepMeasurement& step : table.steps) {
    const auto next = std::partition_point(intervals.begin(), intervals.end(),
                                           [&](Interval interval) { return interval.end <= step.span.start; });
    if (!step.is_boundary && next != intervals.end() && next->start < step.span.end) ++count;
  }
  return count;
}

StepSummary summarize_steps(std::span<const StepTable> hosts) {
  StepSummary summary;
  double squares = 0;
  for (const StepTable& host : hosts) {
    for (const StepMeasurement& step : host.steps) {
      if (step.is_boundary || step.duration() <= 0) continue;
      const auto duration = static_cast<double>(step.duration());
      summary.shortest = summary.count == 0 ? step.duration() : std::min(summary.shortest, step.duration());
      summary.longest = std::max(summary.longest, step.duration());
      ++summary.count;
      summary.average += duration;
      squares += duration * duration;
      for (std::size_t part = 0; part < kStepPartCount; ++part) {
        summary.parts[part] += static_cast<double>(step.parts[part]);
      }
    }
  }
  if (summary.count == 0) return summary;
  const auto count = static_cast<double>(summary.count);
  summary.average /= count;
  summary.deviation = std::sqrt(std::max(0.0, squares / count - summary.average * summary.average));
  for (double& part : summary.parts) part /= count;
  summary.input_share = summary.parts[static_cast<std::size_t>(StepPart::input)] / summary.average;
  return summary;
}

}  // namespace doctor
