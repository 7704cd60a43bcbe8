#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace doctor {

/// A vector that grows by chunks: elements never move, so growing needs no second copy of the data in memory.
/// The first chunk holds 4 elements and chunks double up to 1,024, so a hundred thousand short lanes stay small.
template <typename T>
class ChunkedVector {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T& operator[](std::size_t index) {
    const Place place = place_of(index);
    return chunks_[place.chunk][place.slot];
  }
  const T& operator[](std::size_t index) const {
    const Place place = place_of(index);
    return chunks_[place.chunk][place.slot];
  }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) {
    const Place place = place_of(size_);
    if (place.chunk == chunks_.size()) chunks_.push_back(std::unique_ptr<T[]>(new T[chunk_length(place.chunk)]));
    chunks_[place.chunk][place.slot] = std::move(value);
    ++size_;
  }

  void clear() {
    chunks_.clear();
    size_ = 0;
  }

  /// First index in [from, size()) for which `is_before(element)` is false; the elements must be partitioned by it.
  template <typename Predicate>
  std::size_t partition_point(std::size_t from, Predicate is_before) const {
    std::size_t low = from;
    std::size_t high = size_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_before((*this)[middle])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  struct Place {
    std::size_t chunk;
    std::size_t slot;
  };

  static constexpr std::size_t kFirstLength = 4;
  static constexpr std::size_t kFullLength = 1'024;
  static constexpr std::size_t kGrowingChunks = 8;                             // 4, 8, ... 512
  static constexpr std::size_t kGrowingElements = kFullLength - kFirstLength;  // held by them together

  static constexpr std::size_t chunk_length(std::size_t chunk) {
    return chunk < kGrowingChunks ? kFirstLength << chunk : kFullLength;
  }

  static constexpr Place place_of(std::size_t index) {
    if (index >= kGrowingElements) {
      const std::size_t beyond = index - kGrowingElements;
      return {kGrowingChunks + beyond / kFullLength, beyond % kFullLength};
    }
    // Chunk c starts at 4 * (2^c - 1), so the chunk is the position of the highest bit of index / 4 + 1.
    const std::size_t chunk = static_cast<std::size_t>(std::bit_width(std::uint64_t{index / kFirstLength + 1}) - 1);
    return {chunk, index - kFirstLength * ((std::size_t{1} << chunk) - 1)};
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace doctor
