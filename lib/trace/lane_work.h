#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/element_links.h"
#include "trace/trace_builder.h"

namespace doctor {

/// An event that is open on a thread at one moment. Each entry holds the answers for the events nested in it, so that
/// nesting an event looks only at the innermost entry.
struct TraceBuilder::OpenEvent {
  EventKind kind = EventKind::other;
  bool in_executor = false;
  bool awaits_item = false;  ///< it asks for an element, and no `__getitem__` is around
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint64_t function_id = 0;        ///< of the innermost executor span, else of the innermost function run
  std::uint32_t own_row = kNoRow;       ///< row of this event in the table of its kind
  std::uint32_t iterator_row = kNoRow;  ///< innermost iterator call, including this one
  std::uint32_t get_next = kNoRow;      ///< outermost GetNext call, including this one
  std::uint32_t produce = kNoRow;       ///< innermost Produce without an iterator call in between
  std::uint32_t executor = kNoRow;      ///< innermost executor span that is kept
  std::uint32_t making = kNoMaking;     ///< outermost MakeIterator, including this one
  std::uint32_t python_call = kNoRow;   ///< innermost call from Python that is kept
};

struct TraceBuilder::LaneState {
  std::vector<OpenEvent> open;
  /// Events of the latest start time, to sort ties; with Order::any, all events.
  std::vector<LaneEvent> held;
  ElementEvents elements;
  Picoseconds latest_start = std::numeric_limits<Picoseconds>::min();  ///< of the events nested so far
  Picoseconds region_start = 0;
  bool region_is_open = false;
  bool is_compute_pool = false;  ///< in compute (Eigen) threads only, regions are work that no op event shows
};

struct TraceBuilder::LaneWork {
  Lane tables;
  LaneState state;
};

}  // namespace doctor
