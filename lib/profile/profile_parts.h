#pragma once

#include "trace/event_reader.h"

namespace doctor {

// The groups of arguments that the builders of a Profile use (EventSink::groups_of()). An argument in EventSink::kMarks
// makes any event a step, a launch or a call of a function.

inline constexpr ArgumentGroups kBesideMarks = 1 << 1;  ///< used with a mark, or if the event is named like a step
inline constexpr ArgumentGroups kFunctionId = 1 << 2;
inline constexpr ArgumentGroups kAllocation = 1 << 4;
// Of events of devices.
inline constexpr ArgumentGroups kDeviceMeaning = 1 << 5;  ///< texts that say what an event is
inline constexpr ArgumentGroups kBesideDeviceMeaning = 1 << 6;

/// The use of events by either of two builders.
constexpr EventUse joined(EventUse a, EventUse b) {
  return {a.is_taken || b.is_taken, static_cast<ArgumentGroups>(a.arguments | b.arguments)};
}

}  // namespace doctor
