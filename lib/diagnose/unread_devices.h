#pragma once

#include <string>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

/// Why it is not known what the devices of a host did while its consumer waited, as a clause: they are named and show
/// no work, or work that is not understood. Empty where it is known, and where the trace names no device.
std::string why_devices_are_unread(const HostMeasurement& host);

/// A wait costs nothing while a device works, so where that is not known, no job is input-bound for sure: the
/// confidence is held below what counts as sure, and the doubt says why.
void doubt_unread_devices(const Measurements& measurements, Judgement& judgement);

}  // namespace doctor
