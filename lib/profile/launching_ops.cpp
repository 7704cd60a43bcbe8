#include "profile/launching_ops.h"

#include <optional>

#include "trace/event_kind.h"

namespace doctor {

void LaunchingOps::take(const TraceEvent& event) {
  const bool is_op = classify_event(event.name) == EventKind::op;
  const std::optional<std::int64_t> correlation = is_op ? std::nullopt : event.find_integer("correlation_id");
  if (!is_op && !correlation) return;
  std::vector<OpenOp>& open = open_[event.line->index];
  while (!open.empty() && open.back().end <= event.start) open.pop_back();
  if (is_op) {
    open.push_back({event.start + event.duration, intern(event.name)});
  } else if (!open.empty() && launches_.size() < kMostLaunches) {
    launches_.try_emplace(*correlation, open.back().name);
  }
}

std::string_view LaunchingOps::op_of(std::int64_t correlation) const {
  const auto found = launches_.find(correlation);
  return found == launches_.end() ? std::string_view{} : std::string_view(names_[found->second]);
}

std::uint32_t LaunchingOps::intern(std::string_view name) {
  const auto [place, is_new] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return place->second;
}

}  // namespace doctor
