#include <doctest/doctest.h>

#include "measure/devices/device_balance.h"
#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::uneven_devices_test {
namespace {

constexpr std::string_view kRule = "uneven-devices";

struct Device {
  double computing_share = 0;
  double collective_share = 0;
  std::uint64_t kernels = 10'000;
  Interval at_work = {0, kPicosecondsPerSecond};
};

/// A thousand kernels, as one piece of the device's time each.
DeviceActivity activity(const Device& device, std::size_t number) {
  constexpr Picoseconds kPieces = 1'000;
  DeviceActivity activity;
  activity.name = "/device:GPU:" + std::to_string(number);
  activity.window = {0, kPicosecondsPerSecond};
  activity.kernel_count = device.kernels;
  const Picoseconds piece = (device.at_work.end - device.at_work.start) / kPieces;
  const auto busy = static_cast<Picoseconds>(device.computing_share * static_cast<double>(piece));
  for (Picoseconds index = 0; busy > 0 && index < kPieces; ++index) {
    const Picoseconds start = device.at_work.start + index * piece;
    activity.computing.push_back({start, start + busy});
  }
  activity.kernel_sum = activity.full_precision = kPieces * busy;
  activity.kernels = activity.busy = kPieces * busy + part_of_second(device.collective_share);
  return activity;
}

MeasuredPipeline host_with(const std::vector<Device>& devices) {
  MeasuredPipeline pipeline = with_device();
  pipeline.host().device_profile.devices.clear();
  for (std::size_t index = 0; index < devices.size(); ++index) {
    pipeline.host().device_profile.devices.push_back(activity(devices[index], index));
  }
  return pipeline;
}

/// The others wait for the first in collectives.
MeasuredPipeline waiting_for(double busiest, double others, std::size_t count = 4) {
  std::vector<Device> devices(count, {others, busiest - others + 0.01});
  devices.front() = {busiest, 0.01};
  return host_with(devices);
}

TEST_CASE("uneven-devices: situations") {
  MeasuredPipeline timeline = of_timeline(waiting_for(0.9, 0.5));
  check_situations(kRule, {{"the others wait in collectives", waiting_for(0.9, 0.5), "warning"},
                           {"a pair", waiting_for(0.9, 0.5, 2), "warning"},
                           {"a little", waiting_for(0.9, 0.8, 4), "note"},
                           {"idle instead of waiting", host_with({{0.9}, {0.5}}), "note"},
                           {"even", host_with({{0.9}, {0.89}, {0.9}}), "silent"},
                           {"one device", host_with({{0.9}}), "silent"},
                           {"a second one that only copies", host_with({{0.9}, {0}}), "silent"},
                           {"other kernels", host_with({{0.9, 0.01, 10'000}, {0.5, 0.41, 3'000}}), "silent"},
                           {"one after another",
                            host_with({{0.9, 0, 5'000, {0, kPicosecondsPerSecond / 2}},
                                       {0.5, 0, 5'000, {kPicosecondsPerSecond / 2, kPicosecondsPerSecond}}}),
                            "silent"},
                           {"all idle", host_with({{0.3}, {0.1, 0.2}}), "silent"},
                           {"a timeline", timeline, "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"no device", sequential_map(), "not evaluated"}});
}

TEST_CASE("uneven-devices: thresholds") {
  const auto at_rate = [](double ratio) {
    return host_with({{0.9, 0.01, 10'000}, {0.5, 0.41, static_cast<std::uint64_t>(std::llround(ratio * 10'000))}});
  };
  // The second begins later, and runs as many kernels a second.
  const auto together = [](double share) {
    const Interval at_work = {part_of_second(1 - share - 0.001), kPicosecondsPerSecond};
    return host_with({{0.9, 0.01}, {0.5, 0.41, static_cast<std::uint64_t>(share * 10'000), at_work}});
  };
  check_thresholds(
      kRule,
      {{"min_share", 0.01, [](double share) { return waiting_for(0.601, 0.6 - 2 * share, 2); }, at_least, "note"},
       {"min_ratio", 0.015, [](double ratio) { return waiting_for(0.982, 0.98 / ratio, 20); }, at_least, "note"},
       {"min_computing_share", 0.1, [](double share) { return waiting_for(share + 1e-6, 0.1); }, at_least, "warning"},
       {"min_kernel_rate_ratio", 0.1, at_rate, at_least, "warning"},
       {"min_common_share", 0.05, together, at_least, "warning"}},
      {"min_high_share"});
}

TEST_CASE("uneven-devices: much that even work would save is a warning") {
  const auto said = [](double share, const ThresholdSettings& settings = {}) {
    return answer(kRule, waiting_for(0.9, 0.9 - 2 * share, 2).measurements(), settings);
  };
  CHECK(said(0.101) == "warning");
  CHECK(said(0.099) == "note");
  CHECK(said(0.099, {{std::string(kRule), {{"min_high_share", 0.07}}}}) == "warning");
}

TEST_CASE("uneven-devices: what it says") {
  const std::vector<Finding> findings = ask(kRule, waiting_for(0.9, 0.5).measurements()).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].subject == "/device:GPU:0");
  CHECK(findings[0].message ==
        "/device:GPU:0 computes 90% of the time, the median of the 3 others 50%: the difference is spent "
        "waiting in collective kernels; even work would save 30% of the time");
  CHECK(findings[0].at_stake == doctest::Approx(0.3e12).epsilon(0.01));
  CHECK(says(kRule, waiting_for(0.9, 0.5, 2), "the other device 50%"));
  CHECK(says(kRule, host_with({{0.9}, {0.5}}), "idle time, for this reason or another"));
}

TEST_CASE("uneven-devices: devices of several hosts are compared, windows of one host are not") {
  Measurements run;
  for (const double share : {0.5, 0.9, 0.5}) {
    run.hosts.push_back(host_with({{share, 0.91 - share}}).host());
    run.hosts.back().hosts = {"worker-" + std::to_string(run.hosts.size() - 1)};
  }
  const std::vector<Finding> findings = ask(kRule, run).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].host == 1);
  CHECK(findings[0].message.starts_with("/device:GPU:0 of worker-1 computes 90% of the time"));
  Picoseconds start = 0;
  for (HostMeasurement& window : run.hosts) {
    window.hosts = {"worker"};
    window.recorded_ns = 1'700'000'000'000'000'000 + (start += 10'000'000'000);
    window.window = kPicosecondsPerSecond;
  }
  CHECK(answer(kRule, run) == "silent");
}

TEST_CASE("the load of devices") {
  const Measurements run = host_with({{0.5, 0.4}, {0.9, 0}, {0.7, 0.2, 9'000}}).measurements();
  const std::optional<DeviceBalance> balance = measure_device_balance(run);
  REQUIRE(balance);
  REQUIRE(balance->devices.size() == 3);
  CHECK(balance->busiest().device == 1);
  CHECK(balance->least_busy().device == 0);
  CHECK(balance->busiest().computing_share() == doctest::Approx(0.9).epsilon(0.001));
  CHECK(balance->median_of_others() == doctest::Approx(0.6).epsilon(0.001));
  CHECK(balance->uneven_share() == doctest::Approx(0.2).epsilon(0.01));
  CHECK(balance->least_busy().collective_share == doctest::Approx(0.4));
  CHECK(balance->kernel_rate_ratio() == doctest::Approx(0.9).epsilon(0.001));
  CHECK(balance->common_share == doctest::Approx(1).epsilon(0.001));
}

}  // namespace
}  // namespace doctor::rule_test::uneven_devices_test
