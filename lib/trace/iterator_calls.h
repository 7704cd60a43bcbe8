#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/chunked_vector.h"
#include "base/ids.h"
#include "base/packed.h"

namespace doctor {

/// Instances that an IteratorCall can tell apart.
inline constexpr unsigned kInstanceBits = 18;
inline constexpr std::size_t kMostCallInstances = std::size_t{1} << kInstanceBits;

/// One GetNext call of an iterator on one thread: 16 bytes, since they are half of what a trace takes in memory.
struct IteratorCall {
  PackedSpan span;
  InstanceId instance : kInstanceBits = InstanceId{};
  std::uint32_t subtree_size : 32 - kInstanceBits = 1;  ///< rows, its own included; see IteratorCalls::subtree_end()
};
static_assert(sizeof(IteratorCall) == 16);

/// The calls of a thread in pre-order of nesting: the calls nested in row r are the rows r + 1 .. subtree_end(r) - 1,
/// the first nested call is r + 1, and the sibling after row c is subtree_end(c).
class IteratorCalls {
 public:
  std::size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }
  const IteratorCall& operator[](std::size_t row) const { return calls_[row]; }
  /// See ChunkedVector.
  std::span<const IteratorCall> run_from(std::size_t row) const { return calls_.run_from(row); }
  template <typename Predicate>
  std::size_t partition_point(std::size_t from, Predicate is_before) const {
    return calls_.partition_point(from, is_before);
  }

  std::uint32_t subtree_end(std::uint32_t row) const { return subtree_end(row, calls_[row]); }
  /// The same of a row that is at hand.
  std::uint32_t subtree_end(std::uint32_t row, const IteratorCall& call) const {
    if (call.subtree_size == kLarge) [[unlikely]]
      return end_of_large(row);
    return row + call.subtree_size;
  }

  void push_back(PackedSpan span, InstanceId instance) {
    IteratorCall call;
    call.span = span;
    call.instance = instance;
    calls_.push_back(call);
  }
  void set_instance(std::size_t row, InstanceId instance) { calls_[row].instance = instance; }
  /// The subtree of a row ends with the rows that are there.
  void close(std::uint32_t row) {
    constexpr std::uint32_t kMostOfRow = (std::uint32_t{1} << (32 - kInstanceBits)) - 1;
    const std::uint32_t length = static_cast<std::uint32_t>(calls_.size()) - row;
    calls_[row].subtree_size = length <= kMostOfRow ? length & kMostOfRow : kLarge;
    if (length > kMostOfRow) [[unlikely]]
      close_large(row);
  }
  /// All rows are closed: from here on subtree_end() may be asked for.
  void finish();

 private:
  /// A subtree that is too large for its row to say so, as that of a call which fills a shuffle's buffer.
  struct LargeSubtree {
    std::uint32_t row = 0;
    std::uint32_t end = 0;
  };
  static constexpr std::uint32_t kLarge = 0;

  [[gnu::cold]] std::uint32_t end_of_large(std::uint32_t row) const;
  [[gnu::cold]] void close_large(std::uint32_t row);

  ChunkedVector<IteratorCall> calls_;
  ChunkedVector<LargeSubtree> large_;  ///< in order of the rows, once it is finished
};

}  // namespace doctor
