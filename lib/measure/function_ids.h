#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Which functions one iterator runs, by the id that a run and its executor spans share: for asynchronous iterators
/// those that a Produce event dispatched, else all runs outside of iterator calls.
class FunctionIds {
 public:
  FunctionIds(const Trace& trace, const IteratorForest& forest, IteratorId iterator);
  explicit FunctionIds(std::vector<std::uint64_t> ids);

  bool empty() const { return ids_.empty(); }
  bool contains(std::uint64_t id) const;

 private:
  std::size_t bucket_of(std::uint64_t id) const { return static_cast<std::size_t>((id - lowest_) >> shift_); }

  // Sorted ids, and where those begin that share their first bits: ids are random numbers, so that is most of the way,
  // and a hash table would be the largest thing in memory.
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint32_t> bucket_begins_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  unsigned shift_ = 0;
};

}  // namespace doctor
