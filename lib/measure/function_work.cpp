#include "measure/function_work.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "measure/lane_order.h"

namespace doctor {
namespace {

/// Of one iterator's functions on one thread.
struct ThreadWork {
  Picoseconds total = 0;
  Picoseconds done = 0;  ///< end of the ops so far: what begins before it is nested, and counts up to there once
};

using WorkOfLane = std::map<IteratorId, ThreadWork>;

WorkOfLane work_of(const Lane& lane, const FunctionOwners& owners, const std::vector<OpKind>& op_kinds,
                   const std::vector<bool>& waits) {
  WorkOfLane result;
  std::uint64_t last_id = 0;
  ThreadWork* last = nullptr;  // of the function `last_id`; null: its time is not asked for
  for (std::size_t index = 0; index < lane.ops.size(); ++index) {
    const OpCall& op = lane.ops[index];
    const std::uint64_t id = op.function_id.value();
    if (id == 0 || op_kinds[index_of(op.type)] == OpKind::wrapper) continue;
    if (id != last_id) {  // an executor runs the ops of a function one after another
      const IteratorId owner = owners[id];
      const bool is_wanted = owner != kNoIterator && waits[index_of(owner)];
      last = is_wanted ? &result.try_emplace(owner, ThreadWork{0, op.span.start()}).first->second : nullptr;
      last_id = id;
    }
    if (last == nullptr) continue;
    const Picoseconds end = op.span.end();
    last->total += std::max<Picoseconds>(0, end - std::max(op.span.start(), last->done));
    last->done = std::max(last->done, end);
  }
  return result;
}

}  // namespace

std::vector<Picoseconds> add_up_function_work(const Trace& trace, const FunctionOwners& owners,
                                              const std::vector<OpKind>& op_kinds, const std::vector<bool>& waits,
                                              const WorkOptions& work) {
  std::vector<Picoseconds> sums(waits.size(), 0);
  if (!owners.has_function_of(waits)) return sums;
  std::mutex mutex;
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    if (lanes[index]->ops.empty()) return;
    const WorkOfLane of_lane = work_of(*lanes[index], owners, op_kinds, waits);
    const std::lock_guard lock(mutex);
    for (const auto& [iterator, thread] : of_lane) sums[index_of(iterator)] += thread.total;
  });
  return sums;
}

}  // namespace doctor
