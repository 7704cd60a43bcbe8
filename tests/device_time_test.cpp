#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "measure/cycles/cycle_recording.h"

namespace doctor::device_time_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

/// Calls of 100 us, one each 10 ms.
ConsumerCycles consumer_of(std::size_t steps) {
  ConsumerCycles consumer;
  for (std::size_t index = 0; index < steps; ++index) {
    ConsumerStep step;
    const auto start = static_cast<Picoseconds>(index) * 10'000 * kUs;
    step.call = {start, start + 100 * kUs};
    consumer.steps.push_back(step);
  }
  return consumer;
}

/// In each step kernels at these times after its start, in us.
DeviceActivity device_of(const std::string& name, std::size_t steps, const std::vector<std::pair<int, int>>& kernels) {
  DeviceActivity device;
  device.name = name;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto start = static_cast<Picoseconds>(step) * 10'000 * kUs;
    for (const auto& [from, to] : kernels) device.computing.push_back({start + from * kUs, start + to * kUs});
  }
  return device;
}

TEST_CASE("pauses between kernels are the device's, longer ones launching, the longest the host's") {
  DeviceProfile profile;
  profile.devices.push_back(
      device_of("/device:GPU:0", 4, {{1'000, 1'500}, {1'510, 2'000}, {2'500, 3'000}, {5'000, 6'000}}));
  ConsumerCycles consumer = consumer_of(4);
  find_device_time(profile, consumer);
  CHECK(consumer.steps[0].device == doctest::Approx(2'500));
  CHECK(consumer.steps[0].launching == doctest::Approx(500));
  CHECK(consumer.steps[3].device == 0);  // what follows the last call is not in the window
  CHECK(consumer.device_step == doctest::Approx(2'500));
  CHECK(consumer.computing == doctest::Approx(2'490));
}

TEST_CASE("of several devices the busiest counts for a step") {
  DeviceProfile profile;
  profile.devices.push_back(device_of("/device:GPU:0", 4, {{1'000, 2'000}}));
  profile.devices.push_back(device_of("/device:GPU:1", 4, {{1'500, 4'500}}));
  ConsumerCycles consumer = consumer_of(4);
  find_device_time(profile, consumer);
  CHECK(consumer.device_step == doctest::Approx(3'000));
  CHECK(consumer.steps[1].device == doctest::Approx(3'500));
}

TEST_CASE("without kernels, or clocks that agree, nothing is known") {
  ConsumerCycles consumer = consumer_of(4);
  DeviceProfile profile;
  find_device_time(profile, consumer);
  CHECK(consumer.device_step == 0);
  profile.devices.push_back(device_of("/device:GPU:0", 4, {{1'000, 2'000}}));
  profile.is_aligned = false;
  find_device_time(profile, consumer);
  CHECK(consumer.device_step == 0);
  CHECK(consumer.steps[0].device == 0);
}

}  // namespace
}  // namespace doctor::device_time_test
