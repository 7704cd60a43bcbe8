#pragma once

#include <set>
#include <span>
#include <vector>

#include "base/work.h"
#include "measure/critical_path.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"

namespace doctor {

/// What measuring any phase of one trace needs. Nothing here is changed by it.
struct PhaseTools {
  const Trace& trace;
  const IteratorForest& forest;
  const CriticalPath& path;
  const std::vector<OpKind>& op_kinds;  ///< indexed by StringId
  const FunctionOwners& owners;
  WorkOptions work;
};

/// The calls of one pipeline in one phase, with what only the measurer of the pipeline wants to know.
struct MeasuredPhase {
  PhaseMeasurement phase;
  std::set<IteratorId> feeding_roots;  ///< other pipelines that its waits were followed into
  Picoseconds unattributed = 0;        ///< latency that the segments missed
};

/// What each iterator held of these calls (by index into forest.root_calls, in order of time) by its own work and its
/// function; indexed by IteratorId.
std::vector<Picoseconds> held_times(const PhaseTools& tools, std::span<const std::size_t> calls);

/// The iterator that holds the most; the runtime's own outermost one only if nothing else holds anything.
IteratorId find_culprit(const IteratorForest& forest, std::span<const Picoseconds> held);

/// Attributes the calls (by index into forest.root_calls, in order of time) of the pipeline `root`, finds the culprit
/// and adds up what its function did. The segments of a long trace need not be kept: an early part of the calls says
/// which iterator will likely be the culprit, and the ops of its function are added up on the way. Where that turns out
/// wrong the calls are attributed again.
MeasuredPhase measure_phase(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls);

}  // namespace doctor
