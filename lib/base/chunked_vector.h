#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace doctor {

/// A vector that grows by chunks: elements never move, so growing needs no second copy of the data in memory.
/// The first chunk holds 4 elements and chunks double up to 1,024, and an empty one takes 16 bytes, so a hundred
/// thousand short lanes stay small.
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
    if (place.slot == 0) add_chunk(place.chunk);
    chunks_[place.chunk][place.slot] = std::move(value);
    ++size_;
  }

  void clear() {
    chunks_.reset();
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

  /// Called with 0, 1, 2 and so on: the table of chunks is full where their number is a power of two.
  void add_chunk(std::size_t chunk) {
    if (std::has_single_bit(chunk) || chunk == 0) {
      Chunks larger(new std::unique_ptr<T[]>[std::max<std::size_t>(1, 2 * chunk)]);
      std::move(chunks_.get(), chunks_.get() + chunk, larger.get());
      chunks_ = std::move(larger);
    }
    chunks_[chunk].reset(new T[chunk_length(chunk)]);
  }

  using Chunks = std::unique_ptr<std::unique_ptr<T[]>[]>;
  Chunks chunks_;  ///< as many as there are, and room for more up to the next power of two
  std::size_t size_ = 0;
};

}  // namespace doctor
