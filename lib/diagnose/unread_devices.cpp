#include <algorithm>

#include "diagnose/judgement_passes.h"

namespace doctor {
namespace {

/// What is left where a device may have worked through the waits: less than what counts as sure (0.7).
constexpr double kDoubtOfUnreadDevice = 0.65;

/// Tracks that tools add beside the devices are not devices. Source: kCustomPlanePrefix of tsl/profiler/utils.
bool is_accelerator(const std::string& device) {
  return !device.starts_with("/device:CUSTOM:");
}

/// Why it is not known what the devices of a host did while its consumer waited: they are named and show no work, or
/// work that is not understood. nullopt where it is known, and where the trace names no device.
std::optional<doubts::UnreadDevice> unread_device(const HostMeasurement& host) {
  if (!host.device_profile.is_aligned) return std::nullopt;  // a TF1 timeline shows no waits beside its devices
  const auto named = static_cast<std::size_t>(std::count_if(host.devices.begin(), host.devices.end(), is_accelerator));
  if (named == 0) return std::nullopt;
  const std::vector<DeviceActivity>& devices = host.device_profile.devices;
  const auto unread =
      std::find_if(devices.begin(), devices.end(), [](const DeviceActivity& device) { return device.is_unread(); });
  if (unread != devices.end()) return doubts::UnreadDevice{unread->name, 1, unread->unread_count};
  const bool is_known = std::any_of(devices.begin(), devices.end(),
                                    [](const DeviceActivity& device) { return !device.computing.empty(); });
  if (is_known) return std::nullopt;
  return doubts::UnreadDevice{*std::find_if(host.devices.begin(), host.devices.end(), is_accelerator), named, 0};
}

}  // namespace

void doubt_unread_devices(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (judgement.level != InputLevel::bound) return;
  const std::optional<doubts::UnreadDevice> unread = unread_device(evidence.host);
  if (!unread) return;
  judgement.confidence.device = kDoubtOfUnreadDevice;
  judgement.doubt = *unread;
}

}  // namespace doctor
