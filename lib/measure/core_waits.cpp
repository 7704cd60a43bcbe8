#include "measure/core_waits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/intervals.h"
#include "measure/host_choice.h"
#include "measure/step_table.h"

namespace doctor {
namespace {

struct CoreStep {
  std::string core;
  Picoseconds duration = 0;
  Picoseconds input = 0;
  bool is_boundary = false;
};

using StepsByNumber = std::map<std::int64_t, std::vector<CoreStep>>;

/// The devices that are cores of their own.
std::vector<const DeviceActivity*> device_cores(const HostMeasurement& host) {
  std::vector<const DeviceActivity*> cores;
  if (!host.device_profile.is_aligned) return cores;
  for (const DeviceActivity& device : host.device_profile.devices) {
    if (device.kernel_count > 0) cores.push_back(&device);
  }
  if (cores.size() < 2) cores.clear();
  return cores;
}

/// When the host waits for its input and the device computes nothing.
std::vector<Interval> waits_of_device(const std::vector<Interval>& waits, const DeviceActivity& device) {
  if (waits.empty()) return {};
  return intersected(waits, gaps_in({waits.front().start, waits.back().end}, device.computing));
}

Picoseconds time_within(Interval step, const std::vector<Interval>& waits) {
  std::vector<Interval> parts;
  clip(step, waits, parts);
  return total_length(parts);
}

void add_host(const HostMeasurement& host, const std::string& name, StepsByNumber& all) {
  const StepTable table = measure_steps(host);
  if (table.source != StepSource::markers) return;
  const auto add = [&](const std::string& core, auto input_of) {
    for (const StepMeasurement& step : table.steps) {
      if (!step.number) continue;
      std::vector<CoreStep>& cores = all[*step.number];
      const bool comes_again = !cores.empty() && cores.back().core == core;
      if (!comes_again) cores.push_back({core, step.duration(), input_of(step), step.is_boundary});
    }
  };
  const std::vector<const DeviceActivity*> devices = device_cores(host);
  if (devices.empty()) add(name, [](const StepMeasurement& step) { return step[StepPart::input]; });
  const std::vector<Interval> waits = devices.empty() ? std::vector<Interval>() : waits_of(host);
  for (const DeviceActivity* const device : devices) {
    const std::vector<Interval> exposed = waits_of_device(waits, *device);
    add(name + " " + device->name, [&](const StepMeasurement& step) { return time_within(step.span, exposed); });
  }
}

TimeRange range_of(const std::vector<CoreStep>& cores, Picoseconds CoreStep::*time) {
  TimeRange range = {cores.front().*time, 0, cores.front().*time};
  for (const CoreStep& core : cores) {
    range.least = std::min(range.least, core.*time);
    range.most = std::max(range.most, core.*time);
    range.mean += static_cast<double>(core.*time);
  }
  range.mean /= static_cast<double>(cores.size());
  return range;
}

StepOnCores step_on_cores(std::int64_t number, const std::vector<CoreStep>& cores) {
  const auto longest = std::max_element(cores.begin(), cores.end(), [](const CoreStep& a, const CoreStep& b) {
    return std::pair(a.input, b.core) < std::pair(b.input, a.core);
  });
  const bool is_boundary =
      std::any_of(cores.begin(), cores.end(), [](const CoreStep& core) { return core.is_boundary; });
  return {number,        cores.size(), range_of(cores, &CoreStep::duration), range_of(cores, &CoreStep::input),
          longest->core, is_boundary};
}

}  // namespace

std::vector<StepOnCores> measure_steps_on_cores(const Measurements& measurements) {
  StepsByNumber all;
  const std::vector<std::string> names = names_of_hosts(measurements);
  for (std::size_t index = 0; index < names.size(); ++index) add_host(measurements.hosts[index], names[index], all);
  std::vector<StepOnCores> steps;
  steps.reserve(all.size());
  for (const auto& [number, cores] : all) steps.push_back(step_on_cores(number, cores));
  return steps;
}

}  // namespace doctor
