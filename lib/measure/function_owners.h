#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Which iterator ran a function, by the id that a run of a function and its executor's spans share.
///
/// A run inside of a call is that iterator's. Asynchronous iterators dispatch theirs on threads of their own, in no
/// call: there the element that is made tells whose it is (its input is a call of the iterator below), or the call on
/// that thread before it, which fetched the input. A thread without any call leaves one guess: the first iterator by
/// name that dispatches functions and has none yet, so that every recording gives the same one.
class FunctionOwners {
 public:
  struct Entry {
    PackedToken id;
    IteratorId owner = kNoIterator;
  };

  FunctionOwners(const Trace& trace, const IteratorForest& forest);
  explicit FunctionOwners(std::vector<Entry> entries);

  /// Whether a function of any of these iterators was seen; indexed by IteratorId.
  bool has_function_of(const std::vector<bool>& iterators) const;
  /// kNoIterator for functions that no iterator ran, as those of a training step.
  IteratorId operator[](std::uint64_t id) const;

 private:
  std::size_t bucket_of(std::uint64_t id) const { return static_cast<std::size_t>((id - lowest_) >> shift_); }
  void sort_into_buckets();

  // Sorted by id, and where those begin that share their first bits: ids are random numbers, so that is most of the
  // way, and a hash table would be the largest thing in memory.
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> bucket_begins_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  unsigned shift_ = 0;
};

}  // namespace doctor
