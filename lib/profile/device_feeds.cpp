#include "profile/device_feeds.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/intervals.h"
#include "profile/gpu_event.h"

namespace doctor {

void DeviceFeedsBuilder::take(const TraceEvent& event) {
  if (event.line->kind != LineKind::activity) return;
  if (!is_copy_to_device(event.name)) return;
  const std::optional<std::int64_t> correlation = event.find_integer("correlation_id");
  if (!correlation) return;
  if (event.line->plane->kind == PlaneKind::host) {
    if (calls_.size() == kMostCopies) return;
    calls_.push_back({*correlation, event.line->index});
    threads_.try_emplace(event.line->index, event.line->name);
  } else if (const std::optional<std::string> device = device_of_stream(*event.line)) {
    if (copy_count_ == kMostCopies) return;
    ++copy_count_;
    copies_[*device].push_back({*correlation, {event.start, event.start + event.duration}});
  }
}

std::vector<DeviceFeed> DeviceFeedsBuilder::finish() {
  std::unordered_map<std::int64_t, std::size_t> lines;  // by correlation
  for (const Call& call : calls_) lines.try_emplace(call.correlation, call.line);
  std::vector<DeviceFeed> feeds;
  for (const auto& [device, copies] : copies_) {
    DeviceFeed feed;
    std::map<std::size_t, Picoseconds> times;
    for (const Copy& copy : copies) {
      const auto line = lines.find(copy.correlation);
      if (line == lines.end()) continue;
      const Picoseconds time = copy.span.end - copy.span.start;
      feed.copies += time;
      times[line->second] += time;
      feed.spans.push_back(copy.span);
    }
    if (times.empty()) continue;
    const auto most =
        std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    feed.device = device;
    feed.line = most->first;
    feed.thread = threads_[most->first];
    feed.by_thread = most->second;
    feed.spans = merged(std::move(feed.spans));
    feeds.push_back(std::move(feed));
  }
  calls_.clear();
  threads_.clear();
  copies_.clear();
  copy_count_ = 0;
  return feeds;
}

}  // namespace doctor
