#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/packed.h"
#include "base/work.h"

namespace doctor {

/// Which iterator ran a function, by the id that a run of a function and its executor's spans share.
class FunctionTable {
 public:
  struct Entry {
    PackedToken id;
    IteratorId owner = kNoIterator;
  };

  explicit FunctionTable(std::vector<Entry> entries, const WorkOptions& work = {});

  bool empty() const { return entries_.empty(); }
  /// kNoIterator for functions that no iterator ran, as those of a training step.
  IteratorId operator[](std::uint64_t id) const;
  /// The same of many: `owners[i]` of `ids[i]`. They wait for memory together, not one after another.
  void find(std::span<const std::uint64_t> ids, std::span<IteratorId> owners) const;

 private:
  bool may_hold(std::uint64_t id) const { return !entries_.empty() && id >= lowest_ && id <= highest_; }
  std::size_t bucket_of(std::uint64_t id) const { return static_cast<std::size_t>((id - lowest_) >> shift_); }
  void sort(const WorkOptions& work);
  void sort_buckets(std::span<Entry> entries, std::size_t first_bucket, std::size_t end_bucket);

  // Sorted by id, and where those begin that share their first bits: ids are random numbers, so that is most of the
  // way, and a hash table would be the largest thing in memory.
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> bucket_begins_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  unsigned shift_ = 0;
};

}  // namespace doctor
