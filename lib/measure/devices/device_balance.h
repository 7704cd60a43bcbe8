#pragma once

#include "measure/measurements.h"

namespace doctor {

/// The load of one device of a run. Shares are of its host's time, so clocks need not agree.
struct DeviceLoad {
  std::size_t host = 0;       ///< index into Measurements::hosts
  std::size_t device = 0;     ///< index into DeviceProfile::devices
  Picoseconds window = 0;     ///< the time in which all devices of the host that ran kernels were at work
  Picoseconds computing = 0;  ///< the part of `window` in which it computed, each moment once
  /// share of all its time in which only collective kernels ran, which wait for other devices
  double collective_share = 0;
  double kernel_rate = 0;  ///< kernels per second

  double computing_share() const;
};

/// The devices of a run that computed, the one that computes most first.
struct DeviceBalance {
  std::vector<DeviceLoad> devices;  ///< at least two
  /// The share of the time from a host's first kernel to its last in which all of its devices that ran kernels were at
  /// work. The minimum over the hosts.
  double common_share = 1;

  const DeviceLoad& busiest() const { return devices.front(); }
  const DeviceLoad& least_busy() const { return devices.back(); }
  double median_of_others() const;   ///< median of the computing shares without the busiest device
  double kernel_rate_ratio() const;  ///< lowest kernel rate / highest: close to 1 if the devices do the same work
  /// The share of time by which the busiest device would compute less if all computed equally.
  double uneven_share() const;
};

/// Measures the balance; nullopt if fewer than two devices computed, or if a trace does not show when.
std::optional<DeviceBalance> measure_device_balance(const Measurements& measurements);

/// The range of a time over several cores.
struct TimeRange {
  Picoseconds least = 0;
  double mean = 0;  ///< picoseconds
  Picoseconds most = 0;
};

/// A step of the run on all its cores. If several devices of a host ran kernels, each of them is a core: its step ends
/// when it has finished what the step launched on it, and its input is the wait during which it computes nothing.
/// Otherwise the host is the core.
struct StepOnCores {
  std::int64_t number = 0;
  std::size_t core_count = 0;  ///< cores that have a step with this number
  TimeRange duration;
  TimeRange input;              ///< the part of the step that waits for input
  std::string longest_waiting;  ///< the core with the most input, the first by name if there are several. Foreign text
  bool is_boundary = false;     ///< StepMeasurement::is_boundary on one of them
};

/// The steps that markers number, by number. Steps that were only counted are left out: their numbers mean nothing on
/// other hosts. If a number recurs on one core, its first step counts. Needs the profiles of hosts with devices.
std::vector<StepOnCores> measure_steps_on_cores(const Measurements& measurements);

}  // namespace doctor
