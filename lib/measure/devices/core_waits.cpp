#include "base/intervals.h"
#include "measure/devices/device_balance.h"
#include "measure/host_choice.h"
#include "measure/steps/step_table.h"

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

/// When a device worked on a step, by the device and the number of the step.
using StepSpans = std::map<std::pair<std::string_view, std::int64_t>, Interval>;

StepSpans spans_of_device_steps(const HostMeasurement& host) {
  StepSpans spans;
  if (!host.profile) return spans;
  const std::vector<std::optional<std::size_t>> markers = markers_of_device_steps(host);
  for (std::size_t index = 0; index < markers.size(); ++index) {
    const DeviceStep& step = host.profile->device_steps[index];
    std::optional<std::int64_t> number;
    if (host.step_markers.empty()) number = step.number;
    if (markers[index]) number = host.step_markers[*markers[index]].number;
    if (number) spans.try_emplace({step.device, *number}, step.span);
  }
  return spans;
}

void add_step(const CoreStep& step, std::int64_t number, StepsByNumber& all) {
  std::vector<CoreStep>& cores = all[number];
  const bool comes_again = !cores.empty() && cores.back().core == step.core;
  if (!comes_again) cores.push_back(step);
}

void add_device(const HostMeasurement& host, const DeviceActivity& device, const std::string& core,
                const StepSpans& spans, StepsByNumber& all) {
  const std::vector<Interval> waits = waits_of_device(waits_of(host), device);
  for (const StepMeasurement& step : host.steps.steps) {
    if (!step.number) continue;
    Interval span = step.span;
    const auto own = spans.find({device.name, *step.number});
    if (own != spans.end() && host.step_markers.empty()) span = own->second;
    if (own != spans.end() && own->second.end > span.start) span.end = own->second.end;
    add_step({core, span.end - span.start, time_within(span, waits), step.is_boundary}, *step.number, all);
  }
}

void add_host(const HostMeasurement& host, const std::string& name, StepsByNumber& all) {
  const std::vector<const DeviceActivity*> devices = device_cores(host);
  const StepSpans spans = devices.empty() ? StepSpans() : spans_of_device_steps(host);
  for (const DeviceActivity* const device : devices) add_device(host, *device, name + " " + device->name, spans, all);
  for (const StepMeasurement& step : host.steps.steps) {
    if (!devices.empty() || !step.number) continue;
    add_step({name, step.duration(), step[StepPart::input], step.is_boundary}, *step.number, all);
  }
}

/// Without markers of the host the numbers are the profiler's own: those of another host are other steps.
bool has_numbered_steps(const HostMeasurement& host, std::size_t host_count) {
  return host.steps.source == StepSource::markers && (host_count == 1 || !host.step_markers.empty());
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
  for (std::size_t index = 0; index < names.size(); ++index) {
    const HostMeasurement& host = measurements.hosts[index];
    if (has_numbered_steps(host, names.size())) add_host(host, names[index], all);
  }
  std::vector<StepOnCores> steps;
  steps.reserve(all.size());
  for (const auto& [number, cores] : all) steps.push_back(step_on_cores(number, cores));
  return steps;
}

}  // namespace doctor
