#include <iterator>

#include "measure/steps/step_table.h"

namespace doctor {
namespace {

Interval span_of(const StepMarker& marker) {
  return {marker.start, marker.end()};
}

Picoseconds overlap(Interval a, Interval b) {
  return std::max<Picoseconds>(0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

/// A device lags its host by fewer steps than this.
constexpr std::size_t kMostCandidates = 64;

/// Finds the marker of a device's step. Markers are sorted by start.
class MarkerFinder {
 public:
  MarkerFinder(std::span<const StepMarker> markers, std::span<const HostStep> host_steps) : markers_(markers) {
    for (std::size_t index = 0; index < markers.size(); ++index) by_number_[markers[index].number].push_back(index);
    for (const HostStep& step : host_steps) {
      if (step.group) groups_[*step.group].push_back(&step);
    }
  }

  std::optional<std::size_t> find(const DeviceStep& step) const {
    if (step.group) {
      const auto group = groups_.find(*step.group);
      if (group != groups_.end()) return marker_of_group(group->second);
    }
    if (step.is_host_number) {
      if (const std::optional<std::size_t> named = last_begun_before(step.span.start, *step.number)) return named;
    }
    return most_overlapping(step.span);
  }

 private:
  /// Nothing where the host has no number for the group: it is a step that the profiler cut, and not a marker's.
  std::optional<std::size_t> marker_of_group(std::span<const HostStep* const> steps) const {
    for (const HostStep* const step : steps) {
      if (step->number) return begun_at(step->span.start, *step->number);
    }
    return std::nullopt;
  }

  std::optional<std::size_t> begun_at(Picoseconds start, std::int64_t number) const {
    const std::optional<std::size_t> marker = last_begun_before(start + kPicosecondsPerMicrosecond, number);
    return marker && markers_[*marker].end() > start ? marker : std::nullopt;
  }

  /// Numbers come again in the next epoch. A step does not begin on a device before it begins on the host.
  std::optional<std::size_t> last_begun_before(Picoseconds time, std::int64_t number) const {
    const auto numbered = by_number_.find(number);
    if (numbered == by_number_.end()) return std::nullopt;
    const std::vector<std::size_t>& indices = numbered->second;
    const auto after = std::partition_point(indices.begin(), indices.end(),
                                            [&](std::size_t index) { return markers_[index].start <= time; });
    return after == indices.begin() ? std::nullopt : std::optional(*std::prev(after));
  }

  std::optional<std::size_t> most_overlapping(Interval span) const {
    const auto end = std::partition_point(markers_.begin(), markers_.end(),
                                          [&](const StepMarker& marker) { return marker.start < span.end; });
    const auto last = static_cast<std::size_t>(end - markers_.begin());
    std::optional<std::size_t> best;
    Picoseconds most = 0;
    for (std::size_t index = last - std::min(last, kMostCandidates); index < last; ++index) {
      const Picoseconds both = overlap(span, span_of(markers_[index]));
      if (both <= most) continue;
      most = both;
      best = index;
    }
    return best;
  }

  std::span<const StepMarker> markers_;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_number_;
  std::unordered_map<std::int64_t, std::vector<const HostStep*>> groups_;
};

/// Where the host has no markers, the devices' steps: of several devices the longest, as long as the slowest took.
std::vector<StepMarker> steps_of_devices(std::span<const DeviceStep> device_steps) {
  std::map<std::int64_t, StepMarker> by_number;
  for (const DeviceStep& step : device_steps) {
    if (!step.number) continue;
    const StepMarker found = {step.span.start, step.span.end - step.span.start, *step.number};
    const auto [place, is_new] = by_number.try_emplace(*step.number, found);
    if (!is_new && found.duration > place->second.duration) place->second = found;
  }
  std::vector<StepMarker> steps;
  steps.reserve(by_number.size());
  for (const auto& [number, step] : by_number) steps.push_back(step);
  return steps;
}

/// The markers, and where a device worked on their steps for longer, its spans.
std::vector<StepMarker> markers_with_devices(const HostMeasurement& host) {
  if (!host.profile) return host.step_markers;
  const std::vector<DeviceStep>& device_steps = host.profile->device_steps;
  if (host.step_markers.empty()) return steps_of_devices(device_steps);
  std::map<std::size_t, Interval> longest;  // by marker
  const std::vector<std::optional<std::size_t>> markers = markers_of_device_steps(host);
  for (std::size_t index = 0; index < markers.size(); ++index) {
    if (!markers[index]) continue;
    const Interval span = device_steps[index].span;
    const auto [place, is_new] = longest.try_emplace(*markers[index], span);
    if (!is_new && span.end - span.start > place->second.end - place->second.start) place->second = span;
  }
  std::vector<StepMarker> steps = host.step_markers;
  for (const auto& [index, span] : longest) {
    const bool is_included = steps[index].start <= span.start && span.end <= steps[index].end();
    if (!is_included) steps[index] = {span.start, span.end - span.start, steps[index].number};
  }
  return steps;
}

std::vector<MarkedStep> outer_steps(std::vector<StepMarker> markers) {
  std::stable_sort(markers.begin(), markers.end(), [](const StepMarker& a, const StepMarker& b) {
    return std::pair(a.start, b.duration) < std::pair(b.start, a.duration);
  });
  std::vector<MarkedStep> steps;
  for (const StepMarker& marker : markers) {
    if (!steps.empty() && marker.end() <= steps.back().span.end) continue;
    steps.push_back({span_of(marker), marker.number});
  }
  return steps;
}

}  // namespace

std::vector<std::optional<std::size_t>> markers_of_device_steps(const HostMeasurement& host) {
  std::vector<std::optional<std::size_t>> markers;
  if (!host.profile) return markers;
  const MarkerFinder finder(host.step_markers, host.profile->host.steps);
  for (const DeviceStep& step : host.profile->device_steps) markers.push_back(finder.find(step));
  return markers;
}

std::vector<MarkedStep> marked_steps(const HostMeasurement& host) {
  std::vector<MarkedStep> numbered = outer_steps(markers_with_devices(host));
  if (!host.profile) return numbered;
  std::vector<MarkedStep> all = numbered;
  for (const HostStep& step : host.profile->host.steps) {
    if (step.number) continue;
    const auto later = std::partition_point(numbered.begin(), numbered.end(),
                                            [&](const MarkedStep& other) { return other.span.end <= step.span.start; });
    const bool is_known = later != numbered.end() && later->span.start < step.span.end;
    if (is_known || (all.size() > numbered.size() && step.span.end <= all.back().span.end)) continue;
    all.push_back({step.span, std::nullopt});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const MarkedStep& a, const MarkedStep& b) { return a.span.start < b.span.start; });
  return all;
}

}  // namespace doctor
