#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"

namespace doctor {

/// A thread of a host that copies the batches to several devices.
struct SharedFeed {
  std::string thread;
  std::vector<std::string> devices;
  Picoseconds copies = 0;    ///< to these devices, added up
  Picoseconds at_once = 0;   ///< the part while another of them is copied to
  Picoseconds in_steps = 0;  ///< time in steps that count while any of them is copied to, each moment once
};

/// The thread that copies to most devices. It counts for a device if it starts at least `min_thread_share` of the
/// copies to it, by time. nullopt if no thread does so for two devices, or if the trace does not show who copies.
std::optional<SharedFeed> find_shared_feed(const HostMeasurement& host, double min_thread_share);

}  // namespace doctor
