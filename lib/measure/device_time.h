#pragma once

#include "measure/cycles.h"
#include "profile/device_profile.h"

namespace doctor {

/// Sets how long devices work on the steps of the only consumer: in each gap, and the busiest device for an average
/// step. Does nothing if the trace does not show when devices compute.
void find_device_time(const DeviceProfile& devices, ConsumerCycles& consumer);

}  // namespace doctor
