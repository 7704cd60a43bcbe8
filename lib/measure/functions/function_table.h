#pragma once

#include <span>
#include <vector>

#include "base/ids.h"
#include "base/packed.h"
#include "base/work.h"

namespace doctor {

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
