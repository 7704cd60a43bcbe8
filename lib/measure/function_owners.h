#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/work.h"
#include "measure/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Indexed by IteratorId: whether its threads run functions of the user.
std::vector<bool> dispatchers(const IteratorForest& forest);

/// Indexed by LaneId and function run, of which each lane has the first ones: the element that the run makes, an index
/// into Trace::produced, where the trace tells; else kNoRow.
using ElementsOfRuns = std::vector<std::vector<std::uint32_t>>;

/// Of the function runs that begin before `until`.
ElementsOfRuns elements_of_runs(const Trace& trace, Picoseconds until);

/// Of each of the lane's first function runs the iterator that runs it; kNoIterator where the lane does not show it: on
/// threads without iterator calls. `dispatches` is dispatchers(), `elements` what elements_of_runs() has of the lane.
std::vector<IteratorId> owners_of_runs(const Trace& trace, std::size_t lane, const IteratorForest& forest,
                                       const std::vector<bool>& dispatches, std::span<const std::uint32_t> elements);

/// Whose function each op is in. Ids are random numbers, so each look into their table misses the cache: every op is
/// looked up once, and two bytes for it serve all passes over the ops.
///
/// A run inside of a call is that iterator's. Asynchronous iterators dispatch theirs on threads of their own, in no
/// call: there the element that is made shows whose it is (its input is a call of the iterator below), or the call on
/// that thread before it, which fetched the input. A thread without any call leaves one guess: the first iterator by
/// name that dispatches functions and has none yet, so that every recording gives the same one.
class FunctionOwners {
 public:
  /// `op_kinds` is indexed by StringId.
  FunctionOwners(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                 const WorkOptions& work = {});

  /// kNoIterator for wrapper ops and for those in no iterator's function. `lane` is the index in Trace::lanes.
  IteratorId of_op(std::size_t lane, std::size_t op) const {
    return op < owners_of_ops_[lane].size() ? owners_[owners_of_ops_[lane][op]] : kNoIterator;
  }
  /// The first of the lane's ops that may end after `time`: a trace may have thousands of pipelines, each of which
  /// looks at its own part of the ops.
  std::size_t first_op_reaching(std::size_t lane, const ChunkedVector<OpCall>& ops, Picoseconds time) const;
  /// Whether a function of any of these iterators was seen; indexed by IteratorId.
  bool has_function_of(const std::vector<bool>& iterators) const;

 private:
  std::vector<IteratorId> owners_;                         ///< the first is kNoIterator
  std::vector<std::vector<std::uint16_t>> owners_of_ops_;  ///< by lane and op, into `owners_`; empty: all of none
  std::vector<Picoseconds> longest_ops_;                   ///< indexed by lane: the longest that is not a wrapper
};

}  // namespace doctor
