#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"

namespace doctor {

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
