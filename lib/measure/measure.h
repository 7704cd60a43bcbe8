#pragma once

#include <optional>

#include "base/work.h"
#include "measure/call_details.h"
#include "measure/measurements.h"
#include "measure/timeline.h"
#include "profile/device_profile.h"
#include "profile/profile.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// What to measure beyond that which every diagnosis needs.
struct MeasureOptions {
  std::optional<CallDetailRequest> calls;
  std::optional<TimelineRequest> timeline;
  bool call_times = false;  ///< how long single calls take, for comparing runs
};

/// What a second reading of the trace's files says: every event with all it carries. Empty where there was none.
struct SecondReading {
  DeviceProfile devices;
  std::optional<Profile> profile;
};

/// Measures one trace, and what its devices did. Total: an empty forest gives empty measurements.
HostMeasurement measure(const Trace& trace, const IteratorForest& forest, const WorkOptions& work = {},
                        const MeasureOptions& options = {}, SecondReading reading = {});

}  // namespace doctor
