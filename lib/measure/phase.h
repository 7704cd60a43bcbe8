#pragma once

#include <deque>
#include <set>
#include <span>
#include <vector>

#include "base/work.h"
#include "measure/busy_threads.h"
#include "measure/critical_path.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"
#include "measure/path_walker.h"

namespace doctor {

/// What each iterator held of some calls. It is as large as the forest, and is reused for one part of the calls after
/// another.
class HeldSums {
 public:
  struct Sum {
    Picoseconds critical = 0;
    Picoseconds in_function = 0;
    Picoseconds in_first_half = 0;  ///< the part of `critical` in the first half
    Sighting longest;
  };
  struct Entry {
    IteratorId id = kNoIterator;
    Sum sum;
  };

  explicit HeldSums(std::size_t iterator_count) : sums_(iterator_count), is_used_(iterator_count, false) {}

  Sum& operator[](IteratorId id);

  /// The iterators that were used since the last call, by id; all are empty afterwards.
  std::vector<Entry> take();

 private:
  std::vector<Sum> sums_;
  std::vector<bool> is_used_;
  std::vector<IteratorId> used_;
};

/// The objects with which one thread attributes calls. Making them takes time proportional to the trace's threads and
/// iterators, so one set serves all pipelines.
struct Attributor {
  Attributor(const CriticalPath& path, const IteratorForest& forest) : walker(path), held(forest.iterators.size()) {}

  CriticalPath::Walker walker;
  HeldSums held;
};

/// What measuring any phase of one trace needs.
struct PhaseTools {
  const Trace& trace;
  const IteratorForest& forest;
  const CriticalPath& path;
  const std::vector<OpKind>& op_kinds;  ///< indexed by StringId
  const FunctionOwners& owners;
  const ThreadActivity& activity;
  WorkOptions work;
  std::deque<Attributor>& attributors;  ///< grows if more are needed at once
};

/// The calls of one pipeline in one phase, with results for the measurer of the pipeline only.
struct MeasuredPhase {
  PhaseMeasurement phase;
  std::set<IteratorId> feeding_roots;  ///< roots of other pipelines that its waits were followed into
  Picoseconds unattributed = 0;        ///< latency that the segments missed
};

/// The time that each iterator held of these calls, by its own work and its function. Calls are indices into
/// forest.root_calls, in order of time.
ByIterator<Picoseconds> held_times(const PhaseTools& tools, std::span<const std::size_t> calls);

/// The iterator that holds the most; the runtime's own outermost one only if nothing else holds anything.
IteratorId find_culprit(const IteratorForest& forest, const ByIterator<Picoseconds>& held);

/// Attributes the calls (indices into forest.root_calls, in order of time) of the pipeline `root`, finds the culprit
/// and adds up what its function did. The segments of a long trace need not be kept: an early part of the calls tells
/// the likely culprit, and the ops of its function are added up on the way. If that turns out wrong, the calls are
/// attributed again.
MeasuredPhase measure_phase(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls);

}  // namespace doctor
