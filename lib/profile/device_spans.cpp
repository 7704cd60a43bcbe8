#include "profile/device_spans.h"

#include <tuple>

#include "base/intervals.h"
#include "profile/xla_op.h"
#include "trace/json_number.h"

namespace doctor {
namespace {

/// Events that begin a step where the host has no marker. Source: root events of tsl/profiler/utils/group_events.cc.
constexpr std::array<std::string_view, 5> kRootEvents = {"EagerKernelExecute", "FunctionRun", "SessionRun", "RunGraph",
                                                         "ExecutorState::Process"};

/// `group_id` of XSpace; the line names steps by it and has the host's name beside ("train 500"). Chrome JSON may have
/// that one as the name.
std::string_view name_of_step(const TraceEvent& step) {
  const std::string_view name = step.find_text("step_name");
  return name.empty() ? step.name : name;
}

}  // namespace

SpanSet* DeviceSpansBuilder::set_of(const GpuEvent& event) {
  switch (event.activity) {
    case GpuActivity::kernel:
      if (event.is_collective) return &between_devices_;
      return event.is_half_precision ? &compute_16_ : &compute_32_;
    case GpuActivity::copy_to_device:
    case GpuActivity::infeed:
      return &copy_to_device_;
    case GpuActivity::copy_to_host:
    case GpuActivity::outfeed:
      return &copy_to_host_;
    case GpuActivity::copy_wait:
      return &copy_wait_;
    case GpuActivity::copy_on_device:
    case GpuActivity::copy_between_devices:
      return &between_devices_;
    case GpuActivity::other:
      break;
  }
  return nullptr;
}

void DeviceSpansBuilder::take(const DeviceEvent& understood) {
  SpanSet* const set = understood.meaning == nullptr ? nullptr : set_of(*understood.meaning);
  const TraceEvent& event = understood.event;
  if (set != nullptr) set->add({event.start, event.start + event.duration});
}

DeviceSpans DeviceSpansBuilder::finish() {
  return {compute_16_.take(),   compute_32_.take(), copy_to_device_.take(),
          copy_to_host_.take(), copy_wait_.take(),  between_devices_.take()};
}

void DeviceStepsBuilder::take(const TraceEvent& event) {
  if (event.line->kind == LineKind::activity) return;
  if (is_xla_module_line(*event.line) && run_count_ < kMostRuns) {
    ++run_count_;
    programs_[event.line->plane->name][std::string(event.name)].push_back({event.start, event.start + event.duration});
  }
  if (event.line->kind != LineKind::steps || event.line->plane->kind != PlaneKind::device) return;
  DeviceStep& step = steps_.emplace_back();
  step.device = event.line->plane->name;
  step.span = {event.start, event.start + event.duration};
  step.group = event.find_integer("group_id");
  std::string_view number = name_of_step(event);
  const std::size_t space = number.rfind(' ');
  const std::string_view word = space == std::string_view::npos ? std::string_view{} : number.substr(0, space);
  number.remove_prefix(space + 1);  // npos + 1 is 0
  step.number = parse_integer(number);
  const bool is_root = std::find(kRootEvents.begin(), kRootEvents.end(), word) != kRootEvents.end();
  step.is_host_number = step.number && !word.empty() && !is_root;
}

std::vector<DeviceStep> DeviceStepsBuilder::finish() {
  std::stable_sort(steps_.begin(), steps_.end(), [](const DeviceStep& a, const DeviceStep& b) {
    return std::tie(a.span.start, a.device, a.span.end) < std::tie(b.span.start, b.device, b.span.end);
  });
  return std::exchange(steps_, {});
}

std::vector<Interval> DeviceStepsBuilder::take_program_runs() {
  std::vector<Interval> longest;
  Picoseconds most = 0;
  if (!programs_.empty()) {
    for (auto& [name, runs] : programs_.begin()->second) {
      Picoseconds time = 0;
      for (const Interval run : runs) time += run.end - run.start;
      if (time <= most) continue;
      most = time;
      longest = std::move(runs);
    }
  }
  programs_.clear();
  std::sort(longest.begin(), longest.end(), [](Interval a, Interval b) { return a.start < b.start; });
  return longest;
}

void DeviceFeedsBuilder::take(const TraceEvent& event) {
  if (event.line->kind != LineKind::activity || event.line->plane->kind != PlaneKind::host) return;
  if (!is_copy_to_device(event.name) || calls_.size() == kMostCopies) return;
  const std::optional<std::int64_t> correlation = event.find_integer("correlation_id");
  if (!correlation) return;
  calls_.push_back({*correlation, event.line->index});
  threads_.try_emplace(event.line->index, event.line->name);
}

void DeviceFeedsBuilder::take(const DeviceEvent& understood) {
  const TraceEvent& event = understood.event;
  if (understood.meaning == nullptr || copy_count_ == kMostCopies || !is_copy_to_device(event.name)) return;
  const std::optional<std::int64_t> correlation = event.find_integer("correlation_id");
  if (!correlation) return;
  ++copy_count_;
  copies_[understood.device].push_back({*correlation, {event.start, event.start + event.duration}});
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
