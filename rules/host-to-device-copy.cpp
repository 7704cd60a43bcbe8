#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/intervals.h"
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

/// JAX copies in the background, as long as nobody reads what it copies.
std::vector<Advice> advice_for_jax() {
  return {{"Copy less: cast and scale in the jitted step", "Hand over small types: uint8 images, int32 ids."},
          {{"Copy the next batch one step early",
            "device_put returns at once, and the step that is running hides the copy."},
           "ahead = jax.device_put(next(batches))\n"
           "for _ in range(steps):\n"
           "    batch, ahead = ahead, jax.device_put(next(batches))\n"
           "    state = train_step(state, batch)"}};
}

/// The time in which the host's data is on its way to the device, each moment once: JAX prepares it in the host's
/// memory first.
std::vector<Interval> copies_of(const HostMeasurement& host, const DeviceActivity& device) {
  if (!host.profile || host.profile->host.staging.empty()) return {};
  std::vector<Interval> copies = host.profile->host.staging;
  const std::vector<Interval>& transfers = host.profile->devices.copy_to_device;
  copies.insert(copies.end(), transfers.begin(), transfers.end());
  return intersected(merged(std::move(copies)), std::span(&device.window, 1));
}

/// "154 MB a step".
std::string words_for_bytes(const HostMeasurement& host, const CopyStatistics& transfers) {
  const std::size_t steps = host.steps.steps.size();
  if (steps > 0) return format_bytes(transfers.bytes / steps) + " a step";
  return fmt::format("{} in {}", format_bytes(transfers.bytes), format_count(transfers.count, "copy operation"));
}

std::string words_for(const HostMeasurement& host, const DeviceActivity& device, double share, Picoseconds copying) {
  const CopyStatistics& transfers = device.to_device;
  if (copying == 0 || transfers.bytes == 0) {
    return fmt::format("{} of the time the device waits for copies from the host ({}, {} in all), computing nothing",
                       format_share(share), format_count(transfers.count, "copy operation"),
                       format_time(transfers.time));
  }
  const double seconds = static_cast<double>(copying) / static_cast<double>(kPicosecondsPerSecond);
  const auto bytes_per_second = static_cast<std::uint64_t>(static_cast<double>(transfers.bytes) / seconds);
  return fmt::format(
      "{} of the time the device waits for copies from the host, computing nothing: {}, {}/s. Of their {} the "
      "transfers are {}; the rest prepares the data in the host's memory",
      format_share(share), words_for_bytes(host, transfers), format_bytes(bytes_per_second), format_time(copying),
      format_time(transfers.time));
}

std::optional<Finding> check_device(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  if (!host.device_profile.is_aligned) {
    examiner.misses("a TF1 timeline does not show when the device has nothing to do");
    return std::nullopt;
  }
  if (!examiner.holds("data is copied from the host to the device", device.to_device.count > 0)) return std::nullopt;
  const std::vector<Interval> copies = copies_of(host, device);
  const Picoseconds copying = total_length(copies);
  const Picoseconds uncovered =
      copying == 0 ? device.uncovered_copies_to_device : copying - total_length(intersected(copies, device.computing));
  const double share = share_of_window(device, uncovered);
  const Evidence uncovered_share = share_of("uncovered_copy_share", share);
  if (copying == 0 && !examiner.at_least(uncovered_share, "min_mild_share")) return std::nullopt;
  const bool is_high = examiner.at_least(uncovered_share, "min_share");
  if (copying > 0 && !is_high) return std::nullopt;
  Finding finding = device_finding(device, is_high && copying == 0 ? Severity::warning : Severity::note,
                                   words_for(host, device, share, copying));
  finding.evidence = {
      uncovered_share, time_of("uncovered_copies", uncovered), time_of("copies_to_device", device.to_device.time),
      number_of("copy_count", device.to_device.count), number_of("bytes", device.to_device.bytes, "bytes")};
  finding.advice = copying == 0 ? advice() : advice_for_jax();
  finding.at_stake = uncovered;
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
