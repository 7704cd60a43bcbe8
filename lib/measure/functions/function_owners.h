#pragma once

#include "base/work.h"
#include "measure/functions/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The iterators whose threads run functions of the user, as flags indexed by IteratorId.
std::vector<bool> dispatchers(const IteratorForest& forest);

/// The element that each function run makes, as an index into Trace::produced; kNoRow if the trace does not tell.
/// Indexed by LaneId and function run; a lane has only its first runs.
using ElementsOfRuns = std::vector<std::vector<std::uint32_t>>;

/// The elements of the function runs that begin before `until`.
ElementsOfRuns elements_of_runs(const Trace& trace, Picoseconds until);

/// The iterator of each of the lane's first function runs; kNoIterator if the lane does not show it, as on threads
/// without iterator calls. `dispatches` is dispatchers(), `elements` are those of the lane from elements_of_runs().
std::vector<IteratorId> owners_of_runs(const Trace& trace, std::size_t lane, const IteratorForest& forest,
                                       const std::vector<bool>& dispatches, std::span<const std::uint32_t> elements);

/// The iterator whose function each op is in. Ids are random numbers, so each lookup misses the cache. Every op is
/// therefore looked up once, and two bytes for it serve all passes over the ops.
///
/// A run inside of a call belongs to that iterator. Asynchronous iterators dispatch their runs on threads of their own,
/// in no call. There the element that is made shows the owner (its input is a call of the iterator below), or the
/// previous call on that thread, which fetched the input. A thread without any call leaves one guess: the first
/// iterator by name that dispatches functions and has none yet, so that every recording gives the same one.
class FunctionOwners {
 public:
  /// `op_kinds` is indexed by StringId.
  FunctionOwners(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                 const WorkOptions& work = {});

  /// The owner of an op; kNoIterator for wrapper ops and for ops in no iterator's function. `lane` is the index in
  /// Trace::lanes.
  IteratorId of_op(std::size_t lane, std::size_t op) const {
    return op < owners_of_ops_[lane].size() ? owners_[owners_of_ops_[lane][op]] : kNoIterator;
  }
  /// The first op of a lane that may end after `time`. A trace may have thousands of pipelines, each of which uses its
  /// own part of the ops.
  std::size_t first_op_reaching(std::size_t lane, const ChunkedVector<OpCall>& ops, Picoseconds time) const;
  /// Tests whether a function of any of these iterators was seen. `iterators` is indexed by IteratorId.
  bool has_function_of(const std::vector<bool>& iterators) const;

 private:
  std::vector<IteratorId> owners_;  ///< the first is kNoIterator
  /// by lane and op, into `owners_`; empty if no op of the lane has an owner
  std::vector<std::vector<std::uint16_t>> owners_of_ops_;
  std::vector<Picoseconds> longest_ops_;  ///< indexed by lane: the longest op that is not a wrapper
};

/// The iterator that ran a function, by the id that a run of a function shares with its executor's spans.
class FunctionTable {
 public:
  struct Entry {
    PackedToken id;
    IteratorId owner = kNoIterator;
  };

  explicit FunctionTable(std::vector<Entry> entries, const WorkOptions& work = {});

  bool empty() const { return entries_.empty(); }
  /// The iterator; kNoIterator for functions that no iterator ran, such as those of a training step.
  IteratorId operator[](std::uint64_t id) const;
  /// The same for many ids: `owners[i]` is for `ids[i]`. The lookups wait for memory together, not one after another.
  void find(std::span<const std::uint64_t> ids, std::span<IteratorId> owners) const;

 private:
  bool may_hold(std::uint64_t id) const { return !entries_.empty() && id >= lowest_ && id <= highest_; }
  std::size_t bucket_of(std::uint64_t id) const { return static_cast<std::size_t>((id - lowest_) >> shift_); }
  void sort(const WorkOptions& work);
  void sort_buckets(std::span<Entry> entries, std::size_t first_bucket, std::size_t end_bucket);

  // Sorted by id, with an index by the ids' first bits. Ids are random numbers, so the index leads most of the way; a
  // hash table would be the largest thing in memory.
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> bucket_begins_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  unsigned shift_ = 0;
};

}  // namespace doctor
