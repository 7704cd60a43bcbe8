#include "measure/devices/device_balance.h"

#include "base/intervals.h"
#include "base/ranks.h"

namespace doctor {
namespace {

Interval span_of(const DeviceActivity& device) {
  return {device.computing.front().start, device.computing.back().end};
}

/// The devices of the host that computed, as indices.
std::vector<std::size_t> devices_at_work(const DeviceProfile& profile) {
  std::vector<std::size_t> found;
  if (!profile.is_aligned) return found;
  for (std::size_t index = 0; index < profile.devices.size(); ++index) {
    if (!profile.devices[index].computing.empty()) found.push_back(index);
  }
  return found;
}

DeviceLoad load_of(const DeviceActivity& device, Interval window) {
  std::vector<Interval> computing;
  clip(window, device.computing, computing);
  const Interval span = span_of(device);
  DeviceLoad load;
  load.window = window.end - window.start;
  load.computing = total_length(computing);
  load.collective_share = share_of_time(device.kernels - total_length(device.computing), device.length());
  load.kernel_rate =
      static_cast<double>(device.kernel_count) * share_of_time(kPicosecondsPerSecond, span.end - span.start);
  return load;
}

void add_host(std::size_t host, const DeviceProfile& profile, DeviceBalance& balance) {
  const std::vector<std::size_t> at_work = devices_at_work(profile);
  if (at_work.empty()) return;
  Interval all = span_of(profile.devices[at_work.front()]);
  Interval common = all;
  for (const std::size_t index : at_work) {
    const Interval span = span_of(profile.devices[index]);
    all = {std::min(all.start, span.start), std::max(all.end, span.end)};
    common = {std::max(common.start, span.start), std::min(common.end, span.end)};
  }
  if (common.start >= common.end) common.end = common.start;
  balance.common_share = std::min(balance.common_share, share_of_time(common.end - common.start, all.end - all.start));
  for (const std::size_t index : at_work) {
    DeviceLoad load = load_of(profile.devices[index], common);
    load.host = host;
    load.device = index;
    balance.devices.push_back(load);
  }
}

}  // namespace

double DeviceLoad::computing_share() const {
  return share_of_time(computing, window);
}

double DeviceBalance::median_of_others() const {
  std::vector<double> others;
  for (std::size_t index = 1; index < devices.size(); ++index) others.push_back(devices[index].computing_share());
  return median(others);
}

double DeviceBalance::kernel_rate_ratio() const {
  const auto [lowest, highest] =
      std::minmax_element(devices.begin(), devices.end(),
                          [](const DeviceLoad& a, const DeviceLoad& b) { return a.kernel_rate < b.kernel_rate; });
  return highest->kernel_rate > 0 ? lowest->kernel_rate / highest->kernel_rate : 0;
}

double DeviceBalance::uneven_share() const {
  double sum = 0;
  for (const DeviceLoad& device : devices) sum += device.computing_share();
  return busiest().computing_share() - sum / static_cast<double>(devices.size());
}

std::optional<DeviceBalance> measure_device_balance(const Measurements& measurements) {
  DeviceBalance balance;
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    add_host(index, measurements.hosts[index].device_profile, balance);
  }
  if (balance.devices.size() < 2) return std::nullopt;
  std::stable_sort(balance.devices.begin(), balance.devices.end(),
                   [](const DeviceLoad& a, const DeviceLoad& b) { return a.computing_share() > b.computing_share(); });
  return balance;
}

}  // namespace doctor
