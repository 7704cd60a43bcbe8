#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "trace/event_reader.h"

namespace doctor {

/// A value that follows from the name of an event, computed once for each name of a file. It serves one reading,
/// because the next one numbers names anew. If there are more names than fit, it keeps the first.
template <typename Value>
class NameMemo {
 public:
  /// The value of the event's name. Calls `work_out()` if the name is new, or if the reader does not number names.
  /// Valid until the next event.
  template <typename WorkOut>
  const Value& of(const TraceEvent& event, const WorkOut& work_out) {
    if (event.name_number == 0 || event.name_number >= kMostNames) return *(passing_ = work_out());
    if (event.name_number >= known_.size()) known_.resize(event.name_number + 1);
    std::optional<Value>& known = known_[event.name_number];
    if (!known) known = work_out();
    return *known;
  }

  void clear() { known_.clear(); }

 private:
  static constexpr std::size_t kMostNames = std::size_t{1} << 16;

  std::vector<std::optional<Value>> known_;  ///< indexed by TraceEvent::name_number
  std::optional<Value> passing_;
};

}  // namespace doctor
