#include <fmt/format.h>

#include "diagnose/devices.h"
#include "text/numbers.h"

namespace doctor::rules::host_to_device_copy {
namespace {

std::vector<Advice> advice() {
  return {{"Copy the next batches while the model works on this one",
           "dataset = dataset.apply(tf.data.experimental.prefetch_to_device(device, buffer_size=2))  # the last "
           "transformation"},
          {{"Copy less: cast, decode and scale in the model", "Hand over small types: uint8 images, int32 ids."},
           "images = tf.cast(images, tf.float32) / 255.0  # in the model, not in Dataset.map"},
          {{"Copy in few large pieces", "Larger batches, and one tensor instead of many small ones."}, std::nullopt}};
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline does not show when the device has nothing to do");
    return std::nullopt;
  }
  if (!examiner.holds("data is copied from the host to the device", device.to_device.count > 0)) return std::nullopt;
  const double share = share_of_window(device, device.uncovered_copies_to_device);
  if (!examiner.at_least(share_of("uncovered_copy_share", share), "min_mild_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share_of("uncovered_copy_share", share), "min_share");
  Finding finding = device_finding(
      device, is_high ? Severity::warning : Severity::note,
      fmt::format("{} of the time the device waits for copies from the host ({}, {} in all), computing nothing",
                  format_share(share), format_count(device.to_device.count, "copy operation"),
                  format_time(device.to_device.time)));
  finding.evidence = {
      share_of("uncovered_copy_share", share), time_of("uncovered_copies", device.uncovered_copies_to_device),
      time_of("copies_to_device", device.to_device.time), number_of("copy_count", device.to_device.count),
      number_of("bytes", device.to_device.bytes, "bytes")};
  finding.advice = advice();
  finding.at_stake = device.uncovered_copies_to_device;
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "host-to-device-copy",
      .summary = "The device waits while data is copied to it from the host",
      .follows = {references::kGpuAnalysis, references::kBestPractices},
      .thresholds = {{"min_share", 0.20, "share",
                      "minimum share of the device's time with a copy to it and no kernel running that makes it a "
                      "warning; XProf counts this time as input, and calls a job highly input-bound at this share"},
                     {"min_mild_share", 0.05, "share",
                      "minimum share that is worth a note; at this share XProf calls a job moderately input-bound"}},
      .check = each_host_with_devices<check_device>};
}

}  // namespace doctor::rules::host_to_device_copy
