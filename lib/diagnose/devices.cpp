#include "diagnose/devices.h"

#include "diagnose/loaders.h"

namespace doctor {

bool shows_devices(const Measurements& measurements) {
  return !is_of_torch(measurements) && std::any_of(measurements.hosts.begin(), measurements.hosts.end(),
                                                   [](const HostMeasurement& host) { return !host.devices.empty(); });
}

RuleResult without_devices(const RuleContext& context) {
  return for_trace(context, [&](Examiner& examiner) -> std::optional<Finding> {
    examiner.holds("the trace shows a device", false);
    examiner.does_not_apply(is_of_torch(context.measurements) ? "the devices of a PyTorch trace are not read"
                                                              : "the trace shows no device");
    return std::nullopt;
  });
}

const DeviceActivity* main_device(const HostMeasurement& host) {
  const std::vector<DeviceActivity>& devices = host.device_profile.devices;
  const auto found =
      std::max_element(devices.begin(), devices.end(), [](const DeviceActivity& a, const DeviceActivity& b) {
        return a.kernel_sum != b.kernel_sum ? a.kernel_sum < b.kernel_sum : a.name > b.name;
      });
  return found == devices.end() || found->kernel_count == 0 ? nullptr : &*found;
}

RuleResult for_each_host_with_devices(const RuleContext& context, const DeviceCheck& check) {
  if (!shows_devices(context.measurements)) return without_devices(context);
  const auto has_devices = [](const HostMeasurement& host) { return !host.devices.empty(); };
  const auto check_host = [&](const HostMeasurement& host, Examiner& examiner) -> std::optional<Finding> {
    examiner.holds("the trace shows a device", true);
    if (const DeviceActivity* const device = main_device(host)) return check(host, *device, examiner);
    examiner.misses("the trace names a device, but shows no kernel that ran on it");
    return std::nullopt;
  };
  return for_each_host(context, check_host, has_devices);
}

RuleResult for_each_host_with_gpus(const RuleContext& context, const DeviceCheck& check) {
  return for_each_host_with_devices(
      context,
      [&](const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) -> std::optional<Finding> {
        if (device.is_gpu()) return check(host, device, examiner);
        examiner.does_not_apply("the device is not a GPU");
        return std::nullopt;
      });
}

bool runs_jax(const HostMeasurement& host) {
  Picoseconds of_jax = 0;
  Picoseconds all = 0;
  for (const KernelRow& row : host.device_profile.kernels) {
    all += row.total;
    if (row.op_name.starts_with("jit(")) of_jax += row.total;
  }
  return 2 * of_jax > all;
}

double share_of_window(const DeviceActivity& device, Picoseconds part) {
  return share_of_time(part, device.length());
}

double share_of_kernels(const DeviceActivity& device, Picoseconds part) {
  return share_of_time(part, device.kernel_sum);
}

Finding device_finding(const DeviceActivity& device, Severity severity, std::string message) {
  Finding finding;
  finding.severity = severity;
  finding.subject = device.name;
  finding.message = std::move(message);
  return finding;
}

}  // namespace doctor
