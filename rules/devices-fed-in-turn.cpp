#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/intervals.h"
#include "diagnose/devices.h"
#include "measure/steps/step_table.h"
#include "text/numbers.h"

namespace doctor::rules::devices_fed_in_turn {
namespace {

/// A thread of a host that copies the batches to several devices.
struct SharedFeed {
  std::string thread;
  std::vector<std::string> devices;
  Picoseconds copies = 0;    ///< to these devices, added up
  Picoseconds at_once = 0;   ///< the part while another of them is copied to
  Picoseconds in_steps = 0;  ///< time in steps that count while any of them is copied to, each moment once
};

/// The thread that copies to most devices. It counts for a device if it starts at least `min_thread_share` of the
/// copies to it, by time. nullopt if no thread does so for two devices, or if the trace does not show who copies.
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

std::vector<Advice> advice() {
  return {{{"Distribute the dataset over the devices",
            "It copies to all of them at once: each has a thread and a buffer of its own."},
           "strategy = tf.distribute.MirroredStrategy()\n"
           "dataset = strategy.experimental_distribute_dataset(dataset)"},
          {"Copy the next batches while the devices work on these",
           "dataset = dataset.apply(tf.data.experimental.prefetch_to_device(device, buffer_size=2))  # the last "
           "transformation"}};
}

std::optional<Finding> check_host(const HostMeasurement& host, const DeviceActivity& device, Examiner& examiner) {
  const std::size_t devices = host.device_profile.devices.size();
  if (!examiner.holds("the trace shows several devices", devices > 1)) return std::nullopt;
  if (!host.profile || host.profile->device_feeds.empty()) {
    examiner.misses("the trace does not show which thread copies data to the devices");
    return std::nullopt;
  }
  if (host.steps.steps.empty()) {
    examiner.misses("the trace shows no steps");
    return std::nullopt;
  }
  const std::optional<SharedFeed> feed = find_shared_feed(host, examiner["min_thread_share"]);
  if (!examiner.holds("one thread copies to several of them", feed.has_value())) return std::nullopt;
  const Evidence at_once = share_of("copied_at_once", share_of_time(feed->at_once, feed->copies));
  if (!examiner.at_most(at_once, "max_at_once")) return std::nullopt;
  const Evidence share = share_of("copies_of_step", share_of_steps(feed->in_steps, host.steps));
  if (!examiner.at_least(share, "min_share")) return std::nullopt;
  const std::size_t fed = feed->devices.size();
  Finding finding =
      device_finding(device, Severity::note,
                     fmt::format("one thread ('{}') copies the batches to {} one after another, for {} of a step",
                                 feed->thread, format_count(fed, "device"), format_share(share.value)));
  finding.evidence = {share, at_once, number_of("devices", fed), time_of("copies", feed->copies)};
  finding.advice = advice();
  finding.at_stake = feed->in_steps - feed->in_steps / static_cast<Picoseconds>(fed);
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "devices-fed-in-turn",
      .summary = "One thread copies the batches to several devices, one after another",
      .follows = {references::kGpuAnalysis, references::kDistributedInput},
      .thresholds = {{"min_share", 0.05, "share",
                      "minimum share of the steps in which such copies run; XProf counts copies as input, and calls "
                      "a job moderately input-bound at 5%"},
                     {"max_at_once", 0.10, "share",
                      "copies that overlap by more of their time go on at once already. Chosen"},
                     {"min_thread_share", 0.90, "share",
                      "minimum share of the copies to a device, by time, that the thread must start to be the one "
                      "that feeds it. Chosen: the rest are copies of other kinds, as of variables"}},
      .check = each_host_with_devices<check_host>};
}

}  // namespace doctor::rules::devices_fed_in_turn
