#include "profile/device_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/json_number.h"

namespace doctor {

void DeviceStepsBuilder::take(const TraceEvent& event) {
  if (event.line->kind != LineKind::steps || event.line->plane->kind != PlaneKind::device) return;
  const std::optional<std::int64_t> number = parse_integer(event.name);
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
