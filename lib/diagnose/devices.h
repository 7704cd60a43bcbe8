#pragma once

#include "diagnose/pipelines.h"
#include "diagnose/rule.h"

namespace doctor {

/// What a rule says of the devices of one host. It asks through the examiner and ends at the first answer against it.
/// The device is the one with most kernel time of its host: replicas do the same work.
using DeviceCheck = std::function<std::optional<Finding>(const HostMeasurement&, const DeviceActivity&, Examiner&)>;

/// Asks about the devices of every host. Misses its evidence where the trace names devices but shows no kernel on them.
RuleResult for_each_host_with_devices(const RuleContext& context, const DeviceCheck& check);

/// The GPUs alone, for rules that say nothing of other devices.
RuleResult for_each_host_with_gpus(const RuleContext& context, const DeviceCheck& check);

/// A rule's check from its question: `.check = each_host_with_gpus<check_device>`.
template <auto kCheck>
RuleResult each_host_with_devices(const RuleContext& context) {
  return for_each_host_with_devices(context, kCheck);
}
template <auto kCheck>
RuleResult each_host_with_gpus(const RuleContext& context) {
  return for_each_host_with_gpus(context, kCheck);
}

/// Tests whether any host of the run has a device that this tool reads.
bool shows_devices(const Measurements& measurements);

/// What a rule about devices returns where shows_devices() is false: that it does not apply, and why.
RuleResult without_devices(const RuleContext& context);

/// The device of the host with most kernel time; null if none ran a kernel.
const DeviceActivity* main_device(const HostMeasurement& host);

/// Tests whether most of the kernel time of a host is in ops of JAX. XLA makes most of their kernels, whose names say
/// neither the precision nor whether they use TensorCores.
bool runs_jax(const HostMeasurement& host);

/// `part` as a share of the time from the first event of the device to its last; 0 where that has no length.
double share_of_window(const DeviceActivity& device, Picoseconds part);

/// `part` as a share of the time of all kernels of the device, added up; 0 without kernels.
double share_of_kernels(const DeviceActivity& device, Picoseconds part);

/// A finding about the device.
Finding device_finding(const DeviceActivity& device, Severity severity, std::string message);

}  // namespace doctor
