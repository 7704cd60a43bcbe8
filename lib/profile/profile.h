#pragma once

#include <vector>

#include "profile/device_spans.h"
#include "profile/host_activity.h"
#include "profile/memory_profile.h"
#include "profile/op_statistics.h"

namespace doctor {

/// What the pages of the Profiler guide show of a host's trace beyond its diagnosis. Times count from the same origin
/// as those of the Trace.
struct Profile {
  OpTable ops;
  HostActivity host;
  DeviceSpans devices;
  std::vector<DeviceStep> device_steps;  ///< sorted by start
  std::vector<DeviceFeed> device_feeds;  ///< by device
  /// on a device without streams, those of the program that takes most of its time
  std::vector<Interval> program_runs;
  MemoryProfile memory;
};

}  // namespace doctor
