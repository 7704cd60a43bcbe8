#include "profile/device_steps.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/xla_op.h"
#include "trace/chrome/json_number.h"

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

void DeviceStepsBuilder::take(const TraceEvent& event) {
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

}  // namespace doctor
