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
  std::optional<std::int64_t> number;  ///< as the marker has it
};

/// The steps that a trace marks, in order of time and not within each other. A marker inside another one (a Keras step
/// around the step of a custom loop) is the same step. Steps without a number count where no numbered one is: of Keras
/// those that the profiler cut at its start and end. A device may work on a step when the host has left it: then the
/// step is the device's. Source: StepDetails::StepTime() of xprof/utils/event_span.cc.
std::vector<MarkedStep> marked_steps(const HostMeasurement& host);

/// For each step of a device (in the order of Profile::device_steps) the index of the host's marker that launched it
/// (in HostMeasurement::step_markers); nothing where no marker did. Told by the profiler's group, which marker and
/// device share; else by the number that the host gave the step; else by overlap in time. A number of the profiler's
/// own says nothing: where it is that of a marker, the marker is another step's.
std::vector<std::optional<std::size_t>> markers_of_device_steps(const HostMeasurement& host);

}  // namespace doctor
