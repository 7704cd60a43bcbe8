#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// How much one device of a run has to compute. Shares are of its host's time, so clocks need not agree.
struct DeviceLoad {
  std::size_t host = 0;         ///< index into Measurements::hosts
  std::size_t device = 0;       ///< index into DeviceProfile::devices
  Picoseconds window = 0;       ///< in which all devices of the host that ran kernels were at work
  Picoseconds computing = 0;    ///< of that: in which it computed, each moment once
  double collective_share = 0;  ///< of all its time: nothing but collective kernels ran, which wait for other devices
  double kernel_rate = 0;       ///< kernels per second

  double computing_share() const;
};

/// The devices of a run that computed, the one that computes most first.
struct DeviceBalance {
  std::vector<DeviceLoad> devices;  ///< at least two
  /// Of the time from the first kernel of a host to its last: all of its devices that ran kernels were at work. The
  /// least of the hosts.
  double common_share = 1;

  const DeviceLoad& busiest() const { return devices.front(); }
  const DeviceLoad& least_busy() const { return devices.back(); }
  double median_of_others() const;   ///< of the computing shares without the busiest
  double kernel_rate_ratio() const;  ///< lowest kernel rate / highest: close to 1 where the devices do the same work
  /// Of the time: how much less the busiest would compute if all computed alike.
  double uneven_share() const;
};

/// Nothing where fewer than two devices computed, or a trace does not show when.
std::optional<DeviceBalance> measure_device_balance(const Measurements& measurements);

}  // namespace doctor
