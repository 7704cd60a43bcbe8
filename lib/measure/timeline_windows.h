#pragma once

#include <cstddef>
#include <vector>

#include "measure/measurements.h"
#include "measure/timeline.h"

namespace doctor {

/// A window with the calls of its pipeline that are drawn in it.
struct ChosenWindow {
  WindowKind kind = WindowKind::typical_steps;
  std::int64_t number = 0;
  Interval span;
  std::vector<std::size_t> calls;  ///< indices into PipelineMeasurement::calls
  std::size_t calls_left_out = 0;
  bool has_lanes = true;
};

/// The requested windows of a host's pipeline. A call or a step that does not exist gives none.
std::vector<ChosenWindow> choose_windows(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                         const TimelineRequest& request);

}  // namespace doctor
