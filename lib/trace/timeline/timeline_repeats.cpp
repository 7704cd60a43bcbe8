#include "trace/timeline/timeline_repeats.h"

#include "base/hash.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

/// Starts and durations are whole microseconds, truncated: the end of a node may seem as much too early.
constexpr Picoseconds kTruncated = kPicosecondsPerMicrosecond;

bool is_kernel(std::string_view event_name, std::string_view name) {
  return event_name == "unknown" && !op_type_of(name).empty();
}

}  // namespace

void TimelineRepeats::add(std::uint64_t process, std::string_view event_name, std::string_view name,
                          std::string_view op, Interval span) {
  if (is_kernel(event_name, name)) {
    kernels_.emplace_back(fnv1a_64(name), span.start, span.end);
  } else if (!name.empty() && !op.empty() && op != "unknown" && op_type_of(name).empty()) {
    nodes_.push_back({fnv1a_64(std::string(name).append(":").append(op)), span, process});
  }
}

void TimelineRepeats::find(ChromeThreads& threads) {
  std::erase_if(nodes_, [&](const Node& node) { return threads.process(node.process).kind != PlaneKind::host; });
  std::sort(nodes_.begin(), nodes_.end(),
            [](const Node& a, const Node& b) { return std::tie(a.op, a.span.start) < std::tie(b.op, b.span.start); });
  std::sort(kernels_.begin(), kernels_.end());
  // A node ran one kernel, which began as soon as the node did: functions may run others of its name meanwhile.
  auto kernel = kernels_.begin();
  for (const Node& node : nodes_) {
    kernel = std::lower_bound(kernel, kernels_.end(), Kernel(node.op, node.span.start, node.span.start));
    if (kernel == kernels_.end()) break;
    const auto [op, start, end] = *kernel;
    if (op == node.op && end <= node.span.end + kTruncated) repeats_.push_back(*kernel++);
  }
  nodes_.clear();
  kernels_.clear();
}

bool TimelineRepeats::contains(std::string_view event_name, std::string_view name, Interval span) const {
  if (repeats_.empty() || !is_kernel(event_name, name)) return false;
  return std::binary_search(repeats_.begin(), repeats_.end(), Kernel(fnv1a_64(name), span.start, span.end));
}

}  // namespace doctor
