#include <fmt/format.h>

#include <algorithm>

#include "diagnose/devices.h"
#include "diagnose/host_comparison.h"
#include "diagnose/pipelines.h"
#include "measure/devices/device_balance.h"
#include "measure/host_choice.h"
#include "text/numbers.h"

namespace doctor::rules::uneven_devices {
namespace {

const DeviceActivity& activity_of(const Measurements& measurements, const DeviceLoad& load) {
  return measurements.hosts[load.host].device_profile.devices[load.device];
}

/// "/device:GPU:1", where the run has several hosts with the name of its own.
std::string name_of(const Measurements& measurements, const DeviceLoad& load) {
  const std::string& device = activity_of(measurements, load).name;
  return measurements.hosts.size() == 1 ? device
                                        : fmt::format("{} of {}", device, names_of_hosts(measurements)[load.host]);
}

/// By how much longer the least busy device is in collectives than the busiest: there it waits for it.
double share_of_wait_in_collectives(const DeviceBalance& balance) {
  return balance.least_busy().collective_share - balance.busiest().collective_share;
}

std::vector<Advice> advice(const std::string& busiest, bool is_gpu) {
  return {{{"Give every replica the same work",
            "Put elements of about the same size into one batch, and use the same batch size on all devices."},
           "dataset = dataset.bucket_by_sequence_length(element_length, bucket_boundaries, bucket_batch_sizes)"},
          {{fmt::format("Look for what {} does alone", busiest),
            fmt::format("Metrics, saving, variables that are kept on it{}.",
                        is_gpu ? "; and what slows it: other processes on it, heat or a power limit (nvidia-smi), "
                                 "another model of GPU"
                               : "")},
           std::nullopt}};
}

Finding finding_for(const Measurements& measurements, const DeviceBalance& balance, bool is_high) {
  const DeviceLoad& busiest = balance.busiest();
  const double in_collectives = share_of_wait_in_collectives(balance);
  // Idle time has many reasons. A collective ends when the last device has come to it.
  const bool is_seen_to_wait = 2 * in_collectives >= busiest.computing_share() - balance.least_busy().computing_share();
  const std::string name = name_of(measurements, busiest);
  const bool is_pair = balance.devices.size() == 2;
  Finding finding = device_finding(
      activity_of(measurements, busiest), is_high && is_seen_to_wait ? Severity::warning : Severity::note,
      fmt::format("{} computes {} of the time, {} {}: {}; even work would save {} of the time", name,
                  format_share(busiest.computing_share()),
                  is_pair ? "the other device" : fmt::format("the median of the {} others", balance.devices.size() - 1),
                  format_share(balance.median_of_others()),
                  is_seen_to_wait ? "the difference is spent waiting in collective kernels"
                                  : "the difference is idle time, for this reason or another",
                  format_share(balance.uneven_share())));
  finding.host = busiest.host;
  finding.evidence = {share_of("computing_share", busiest.computing_share()),
                      share_of("computing_share_of_others", balance.median_of_others()),
                      share_of("uneven_share", balance.uneven_share()),
                      share_of("collective_share", busiest.collective_share),
                      share_of("collective_share_of_least_busy", balance.least_busy().collective_share),
                      number_of("devices", balance.devices.size())};
  finding.advice = advice(name, activity_of(measurements, busiest).is_gpu());
  finding.at_stake = static_cast<Picoseconds>(balance.uneven_share() * static_cast<double>(busiest.window));
  return finding;
}

std::optional<Finding> check_balance(const Measurements& measurements, const DeviceBalance& balance,
                                     Examiner& examiner) {
  const double busiest = balance.busiest().computing_share();
  const double others = balance.median_of_others();
  if (!examiner.at_least(share_of("common_share", balance.common_share), "min_common_share")) return std::nullopt;
  if (!examiner.at_least({"kernel_rate_ratio", balance.kernel_rate_ratio(), "ratio"}, "min_kernel_rate_ratio")) {
    return std::nullopt;
  }
  if (!examiner.at_least(share_of("computing_share", busiest), "min_computing_share")) return std::nullopt;
  if (!examiner.at_least({"computing_ratio", busiest / std::max(others, 1e-9), "ratio"}, "min_ratio")) {
    return std::nullopt;
  }
  if (!examiner.at_least(share_of("uneven_share", balance.uneven_share()), "min_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share_of("uneven_share", balance.uneven_share()), "min_high_share");
  return finding_for(measurements, balance, is_high);
}

RuleResult check(const RuleContext& context) {
  if (!shows_devices(context.measurements)) return without_devices(context);
  return for_trace(context, [&](Examiner& examiner) -> std::optional<Finding> {
    const Measurements& measurements = context.measurements;
    examiner.holds("the trace shows a device", true);
    const bool is_shown = std::any_of(
        measurements.hosts.begin(), measurements.hosts.end(),
        [](const HostMeasurement& host) { return host.device_profile.is_aligned && main_device(host) != nullptr; });
    if (!is_shown) {
      examiner.misses("the trace does not show when its devices compute");
      return std::nullopt;
    }
    if (!examiner.holds("the traces are not windows of one host", !are_windows_of_one_host(measurements))) {
      return std::nullopt;
    }
    const std::optional<DeviceBalance> balance = measure_device_balance(measurements);
    if (!examiner.holds("several devices compute", balance.has_value())) return std::nullopt;
    return check_balance(measurements, *balance, examiner);
  });
}

}  // namespace

Rule rule() {
  return {
      .id = "uneven-devices",
      .summary = "One device has more to compute than the others, which wait for it",
      .follows = {references::kGpuAnalysis, references::kDistributedInput},
      .thresholds = {{"min_share", 0.05, "share",
                      "minimum share of the time that even work would save; chosen: below it the other devices do not "
                      "gain a step in twenty"},
                     {"min_high_share", 0.10, "share",
                      "minimum share that makes it a warning, where the other devices are seen to wait; chosen: twice "
                      "that of a note"},
                     {"min_ratio", 1.1, "ratio",
                      "minimum time that the busiest device computes, as a multiple of the median of the others; "
                      "chosen: GPUs of one model differ by some percent in their clocks"},
                     {"min_computing_share", 0.5, "share",
                      "minimum share of the time in which the busiest device computes; chosen: a device that computes "
                      "for less than half of it is not what the others wait for"},
                     {"min_kernel_rate_ratio", 0.8, "ratio",
                      "minimum ratio of the lowest and the highest number of kernels a second: replicas of a model "
                      "launch the same kernels, devices with other numbers do other work; chosen"},
                     {"min_common_share", 0.8, "share",
                      "minimum share of the time from the first kernel of a host to its last in which all its devices "
                      "are at work; chosen: with less the devices work one after another, or were recorded in part"}},
      .check = check};
}

}  // namespace doctor::rules::uneven_devices
