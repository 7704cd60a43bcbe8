#pragma once

#include "trace/event_reader.h"

namespace doctor {

// The groups of arguments that the builders of a Profile look at (EventSink::groups_of()). Those of EventSink::kMarks
// make any event one of a step, a launch or a call of a function.

inline constexpr ArgumentGroups kBesideMarks = 1 << 1;  ///< with a mark, or with an event named like a step
inline constexpr ArgumentGroups kFunctionId = 1 << 2;
inline constexpr ArgumentGroups kElementType = 1 << 3;
inline constexpr ArgumentGroups kAllocation = 1 << 4;

/// What is looked at by either.
constexpr EventUse joined(EventUse a, EventUse b) {
  return {a.is_taken || b.is_taken, static_cast<ArgumentGroups>(a.arguments | b.arguments)};
}

}  // namespace doctor
