#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"

namespace doctor {

/// One thread of a host that copies the batches to several devices.
struct SharedFeed {
  std::string thread;
  std::vector<std::string> devices;
  Picoseconds copies = 0;    ///< to these devices, added up
  Picoseconds at_once = 0;   ///< of that: while another of them is copied to
  Picoseconds in_steps = 0;  ///< in steps that count, while any of them is copied to, each moment once
};

/// Of the threads that start at least `min_thread_share` of the copies to a device, by time, the one that does so for
/// most devices; nothing where none does for two, or where the trace does not show who copies.
std::optional<SharedFeed> find_shared_feed(const HostMeasurement& host, double min_thread_share);

}  // namespace doctor
