#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/work.h"
#include "measure/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Threads at work on average.
struct BusyThreads {
  double all = 0;
  double in_pool_only = 0;  ///< of these: in a region of the compute pool and in no op: they did a part of another
                            ///< thread's op
};

/// How many threads were at work on average during `waits` (disjoint, sorted): in an op that is neither Python nor a
/// wrapper, in a region of the compute pool, or in the own time of a synchronous iterator. Ops that wait for a core
/// count as running, so the result may exceed the number of cores. 0 if the waits are empty. `op_kinds` is indexed by
/// StringId.
BusyThreads average_busy_threads(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                                 std::span<const Interval> waits, const WorkOptions& work = {});

/// How many closures waited on average during `waits` (disjoint, sorted) for a thread of a pool other than the compute
/// pools: the time that they waited, all together, over the length of the waits, which is the mean length of a queue
/// (Little, A Proof for the Queuing Formula L = lambda W, 1961). Nothing if the trace does not tell how long closures
/// waited (JSON, and traces without ids of closures), or if the waits are empty.
std::optional<double> average_queued_closures(const Trace& trace, std::span<const Interval> waits);

}  // namespace doctor
