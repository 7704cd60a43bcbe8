#include "profile/device_steps.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/json_number.h"

namespace doctor {
namespace {

/// The number that the host's marker of the step carries. The line names steps by the profiler's own count ("0"), and
/// the host's name for it stands beside ("train 500"); Chrome JSON has that one as the name.
std::optional<std::int64_t> number_of(const TraceEvent& step) {
  const auto last_number = [](std::string_view name) {
    name.remove_prefix(name.rfind(' ') + 1);  // npos + 1 is 0
    return parse_integer(name);
  };
  const EventArgument* const host_name = step.find("step_name");
  const std::optional<std::int64_t> number = host_name == nullptr ? std::nullopt : last_number(host_name->text);
  return number ? number : last_number(step.name);
}

}  // namespace

void DeviceStepsBuilder::take(const TraceEvent& event) {
  if (event.line->kind != LineKind::steps || event.line->plane->kind != PlaneKind::device) return;
  const std::optional<std::int64_t> number = number_of(event);
  if (!number) return;
  const StepMarker step = {event.start, event.duration, *number};
  const auto [place, is_new] = steps_.try_emplace(*number, step);
  if (!is_new && step.duration > place->second.duration) place->second = step;
}

std::vector<StepMarker> DeviceStepsBuilder::finish() {
  std::vector<StepMarker> steps;
  for (const auto& [number, step] : steps_) steps.push_back(step);
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepMarker& a, const StepMarker& b) { return a.start < b.start; });
  steps_.clear();
  return steps;
}

}  // namespace doctor
