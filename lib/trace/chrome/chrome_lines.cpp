#include "trace/chrome/chrome_lines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace doctor {
namespace {

constexpr std::size_t kUnnumbered = std::numeric_limits<std::size_t>::max();

}  // namespace

bool ChromeLines::is_among_wanted(std::uint64_t process) {
  const std::lock_guard lock(mutex_);
  const ChromeProcess& known = threads_.process(process);
  return !known.is_annotation && (wanted_ == WantedPlanes::all || known.kind == PlaneKind::device);
}

ChromeLine& ChromeLines::line_of(std::uint64_t process, std::uint64_t thread) {
  const std::lock_guard lock(mutex_);
  ChromeThread& known = threads_.thread(process, thread);
  if (known.lane == kNoLane) {
    known.lane = static_cast<LaneId>(lines_.size());
    ChromeLine& made = lines_.emplace_back();
    made.plane = &plane_of(*known.process);
    made.line.plane = made.plane;
    made.line.name = known.name();
    made.line.kind = kind_of_line(*made.plane, made.line.name);
    made.line.id = known.id;
    made.line.index = kUnnumbered;
  }
  return lines_[index_of(known.lane)];
}

EventPlane& ChromeLines::plane_of(ChromeProcess& process) {
  if (process.plane != nullptr) return *process.plane;
  EventPlane& plane = planes_.emplace_back();
  const std::string_view title = process.name;
  const std::optional<std::string> accelerator = accelerator_of(title);
  plane.title = title;
  plane.kind = process.kind;
  plane.id = process.id;
  plane.index = kUnnumbered;
  // "name /host:CPU" and "name /device:GPU:0" where a trace has several hosts.
  const std::string_view host = title.substr(0, std::min(title.find(" /"), title.size()));
  if (threads_.has_host(host)) plane.host = host;
  plane.name = accelerator ? *accelerator : title.substr(plane.host.empty() ? 0 : plane.host.size() + 1);
  process.plane = &plane;
  return plane;
}

void ChromeLines::number(ChromeLine& line) {
  if (line.line.index != kUnnumbered) return;
  line.line.index = line_count_++;
  if (line.plane->index == kUnnumbered) line.plane->index = plane_count_++;
}

}  // namespace doctor
