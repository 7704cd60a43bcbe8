#include "measure/shared_feed.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/intervals.h"
#include "measure/step_table.h"

namespace doctor {

std::optional<SharedFeed> find_shared_feed(const HostMeasurement& host, double min_thread_share) {
  if (!host.profile) return std::nullopt;
  std::map<std::size_t, std::vector<const DeviceFeed*>> by_thread;
  for (const DeviceFeed& feed : host.profile->device_feeds) {
    const auto least = min_thread_share * static_cast<double>(feed.copies);
    if (static_cast<double>(feed.by_thread) >= least) by_thread[feed.line].push_back(&feed);
  }
  const auto most = std::max_element(by_thread.begin(), by_thread.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_thread.end() || most->second.size() < 2) return std::nullopt;
  SharedFeed shared;
  std::vector<Interval> any;
  for (const DeviceFeed* const feed : most->second) {
    shared.thread = feed->thread;
    shared.devices.push_back(feed->device);
    shared.copies += total_length(feed->spans);
    any.insert(any.end(), feed->spans.begin(), feed->spans.end());
  }
  any = merged(std::move(any));
  shared.at_once = shared.copies - total_length(any);
  shared.in_steps = time_in_steps(any, host.steps);
  return shared;
}

}  // namespace doctor
