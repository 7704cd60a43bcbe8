#pragma once

#include <optional>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

/// Why it is not known what the devices of a host did while its consumer waited: they are named and show no work, or
/// work that is not understood. nullopt where it is known, and where the trace names no device.
std::optional<doubts::UnreadDevice> unread_device(const HostMeasurement& host);

/// A wait costs nothing while a device works, so where that is not known, no job is input-bound for sure: the
/// confidence is held below what counts as sure, and the doubt says why.
void doubt_unread_devices(const Measurements& measurements, Judgement& judgement);

}  // namespace doctor
