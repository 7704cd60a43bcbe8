#pragma once

#include <cstdint>
#include <vector>

#include "base/chunked_vector.h"
#include "base/packed.h"
#include "base/work.h"
#include "trace/trace.h"

namespace doctor {

/// A Produce event of a thread, with the id of its element.
struct ProduceEvent {
  PackedToken element_id;
  std::uint32_t row = kNoRow;       ///< see ProducedElement
  std::uint32_t last_run = kNoRow;  ///< see ProducedElement
};

/// A Consume event of a thread.
struct ConsumeEvent {
  PackedToken element_id;
  std::uint32_t row = kNoRow;  ///< see ConsumedElement
};

/// The Produce and Consume events of one thread.
struct ElementEvents {
  LaneId lane{};
  ChunkedVector<ProduceEvent> produced;  ///< in order of start
  ChunkedVector<ConsumeEvent> consumed;  ///< in any order
};

/// Fills Trace::produced, and Lane::consumed of the lanes of `events`, whose iterator calls are complete. Ids become
/// indices, which are half as large and need no search. The memory of `events` is freed on the way.
void link_elements(std::vector<ElementEvents> events, Trace& trace, const WorkOptions& work);

}  // namespace doctor
