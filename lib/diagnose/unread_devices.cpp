#include "diagnose/unread_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/numbers.h"

namespace doctor {
namespace {

/// What is left where a device may have worked through the waits: less than what counts as sure (0.7).
constexpr double kDoubtOfUnreadDevice = 0.65;

/// Tracks that tools add beside the devices are not devices. Source: kCustomPlanePrefix of tsl/profiler/utils.
bool is_accelerator(const std::string& device) {
  return !device.starts_with("/device:CUSTOM:");
}

}  // namespace

std::string why_devices_are_unread(const HostMeasurement& host) {
  if (!host.device_profile.is_aligned) return {};  // a TF1 timeline shows no waits beside its devices
  const auto named = static_cast<std::size_t>(std::count_if(host.devices.begin(), host.devices.end(), is_accelerator));
  if (named == 0) return {};
  const std::vector<DeviceActivity>& devices = host.device_profile.devices;
  const auto unread =
      std::find_if(devices.begin(), devices.end(), [](const DeviceActivity& device) { return device.is_unread(); });
  if (unread != devices.end()) {
    return fmt::format("{} has {} that are not understood, so it may have worked while the job waited", unread->name,
                       format_count(unread->unread_count, "event"));
  }
  const bool is_known = std::any_of(devices.begin(), devices.end(),
                                    [](const DeviceActivity& device) { return !device.computing.empty(); });
  if (is_known) return {};
  const std::string which = named == 1 ? *std::find_if(host.devices.begin(), host.devices.end(), is_accelerator)
                                       : format_count(named, "device");
  return fmt::format("the trace shows no computation on {}, which may have worked while the job waited", which);
}

void doubt_unread_devices(const Measurements& measurements, Judgement& judgement) {
  for (PipelineJudgement& pipeline : judgement.pipelines) {
    if (pipeline.level != InputLevel::bound) continue;
    std::string why = why_devices_are_unread(measurements.hosts[pipeline.host]);
    if (why.empty()) continue;
    pipeline.confidence.device = kDoubtOfUnreadDevice;
    pipeline.doubt = std::move(why);
  }
}

}  // namespace doctor
