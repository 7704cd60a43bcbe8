#pragma once

#include <map>
#include <span>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// Adds up the ops of the functions that one iterator runs, one GetNext call after another, so that the pieces of a
/// long trace need not be kept. Functions are found by the id that a run and its executor spans share; for asynchronous
/// iterators by the Produce event that dispatched the run, else all runs outside of iterator calls.
class FunctionOps {
 public:
  FunctionOps(const Trace& trace, const IteratorForest& forest, IteratorId iterator);

  /// Adds the ops within `windows` (disjoint, sorted), which must begin after all windows added before.
  void add(std::span<const Interval> windows);

  /// By type, longest first; wrapper ops are left out.
  std::vector<FunctionOp> totals() const;

 private:
  struct Part {
    StringId type;
    Interval time;
  };

  void collect_parts(std::size_t lane, std::span<const Interval> windows, std::vector<Part>& parts);

  const Trace& trace_;
  std::vector<std::uint64_t> functions_;  ///< sorted ids: a hash table would be the largest thing in memory
  std::vector<std::size_t> next_op_;      ///< indexed by LaneId: the ops before it ended before the windows to come
  std::map<StringId, Picoseconds> totals_;
};

}  // namespace doctor
