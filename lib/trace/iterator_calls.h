#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/chunked_vector.h"
#include "base/ids.h"
#include "base/packed.h"

namespace doctor {

/// Bits that an IteratorCall has for its instance.
inline constexpr unsigned kInstanceBits = 18;
inline constexpr std::size_t kMostCallInstances = std::size_t{1} << kInstanceBits;

/// One GetNext call of an iterator on one thread. It has 16 bytes, since these calls are half of a trace's memory.
struct IteratorCall {
  PackedSpan span;
  InstanceId instance : kInstanceBits = InstanceId{};
  std::uint32_t subtree_size : 32 - kInstanceBits = 1;  ///< rows, including its own; see IteratorCalls::subtree_end()
};
static_assert(sizeof(IteratorCall) == 16);

/// The calls of a thread in pre-order of nesting: the calls nested in row r are the rows r + 1 .. subtree_end(r) - 1,
/// the first nested call is r + 1, and the sibling after row c is subtree_end(c).
class IteratorCalls {
 public:
  std::size_t size() const { return calls_.size(); }
  bool empty() const { return calls_.empty(); }
  const IteratorCall& operator[](std::size_t row) const { return calls_[row]; }
  /// As ChunkedVector::run_from().
  std::span<const IteratorCall> run_from(std::size_t row) const { return calls_.run_from(row); }
  template <typename Predicate>
  std::size_t partition_point(std::size_t from, Predicate is_before) const {
    return calls_.partition_point(from, is_before);
  }

  std::uint32_t subtree_end(std::uint32_t row) const { return subtree_end(row, calls_[row]); }
  /// The same for a row that the caller already has.
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
  /// Ends the subtree of a row with the last row that exists.
  void close(std::uint32_t row) {
    constexpr std::uint32_t kMostOfRow = (std::uint32_t{1} << (32 - kInstanceBits)) - 1;
    const std::uint32_t length = static_cast<std::uint32_t>(calls_.size()) - row;
    calls_[row].subtree_size = length <= kMostOfRow ? length & kMostOfRow : kLarge;
    if (length > kMostOfRow) [[unlikely]]
      close_large(row);
  }
  /// Called when all rows are closed. subtree_end() may be used afterwards.
  void finish();

 private:
  /// A subtree too large for the field of its row, such as that of a call which fills a shuffle's buffer.
  struct LargeSubtree {
    std::uint32_t row = 0;
    std::uint32_t end = 0;
  };
  static constexpr std::uint32_t kLarge = 0;

  [[gnu::cold]] std::uint32_t end_of_large(std::uint32_t row) const;
  [[gnu::cold]] void close_large(std::uint32_t row);

  ChunkedVector<IteratorCall> calls_;
  ChunkedVector<LargeSubtree> large_;  ///< in order of the rows, once finish() was called
};

}  // namespace doctor
