#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace doctor {

/// A vector that grows by chunks. Elements never move, so growing needs no second copy of the data in memory. The first
/// chunk holds 1 element and chunks double up to 1,024. An empty vector is one pointer, because a trace may have a
/// million threads with an event each. T is a plain value that needs no destructor.
template <typename T>
class ChunkedVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ChunkedVector() = default;
  ChunkedVector(ChunkedVector&& other) noexcept : table_(std::exchange(other.table_, empty_table())) {}
  ChunkedVector& operator=(ChunkedVector&& other) noexcept {
    std::swap(table_, other.table_);
    return *this;
  }
  ~ChunkedVector() { clear(); }

  std::size_t size() const { return table_[0].size; }
  bool empty() const { return size() == 0; }

  T& operator[](std::size_t index) { return element(index); }
  const T& operator[](std::size_t index) const { return element(index); }
  T& back() { return element(size() - 1); }
  const T& back() const { return element(size() - 1); }

  /// The elements from `index` to the end of their chunk, at least one. A walk over all elements goes from run to run,
  /// so that it looks up a place once for a thousand elements. `index` must be below size().
  std::span<const T> run_from(std::size_t index) const {
    const Place place = place_of(index);
    const std::size_t length = std::min(chunk_length(place.chunk) - place.slot, size() - index);
    return {table_[1 + place.chunk].chunk + place.slot, length};
  }

  void push_back(T value) {
    const std::size_t index = size();
    const Place place = place_of(index);
    if (place.slot == 0) add_chunk(place.chunk);
    table_[1 + place.chunk].chunk[place.slot] = value;
    table_[0].size = index + 1;
  }

  void clear() {
    if (empty()) return;
    const std::size_t chunks = place_of(size() - 1).chunk + 1;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) delete[] table_[1 + chunk].chunk;
    delete[] std::exchange(table_, empty_table());
  }

  /// First index in [from, size()) for which `is_before(element)` is false; the elements must be partitioned by it.
  template <typename Predicate>
  std::size_t partition_point(std::size_t from, Predicate is_before) const {
    std::size_t low = from;
    std::size_t high = size();
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

  /// The number of elements, then the chunks. They are one allocation, so that an empty vector is one pointer.
  union Entry {
    std::size_t size;
    T* chunk;
  };

  static constexpr std::size_t kFullLength = 1'024;
  static constexpr std::size_t kGrowingChunks = 10;                 // 1, 2, 4, ... 512
  static constexpr std::size_t kGrowingElements = kFullLength - 1;  // elements that the growing chunks hold together

  /// The table of all empty vectors, which never write to it.
  static Entry* empty_table() {
    static constinit Entry empty{0};
    return &empty;
  }

  static constexpr std::size_t chunk_length(std::size_t chunk) {
    return chunk < kGrowingChunks ? std::size_t{1} << chunk : kFullLength;
  }

  static constexpr Place place_of(std::size_t index) {
    if (index >= kGrowingElements) {
      const std::size_t beyond = index - kGrowingElements;
      return {kGrowingChunks + beyond / kFullLength, beyond % kFullLength};
    }
    // Chunk c starts at 2^c - 1, so the chunk is the position of the highest bit of index + 1.
    const std::size_t chunk = static_cast<std::size_t>(std::bit_width(std::uint64_t{index + 1}) - 1);
    return {chunk, index + 1 - (std::size_t{1} << chunk)};
  }

  T& element(std::size_t index) const {
    const Place place = place_of(index);
    return table_[1 + place.chunk].chunk[place.slot];
  }

  /// Adds chunks 0, 1, 2 and so on. The table is full whenever the number of chunks is a power of two.
  void add_chunk(std::size_t chunk) {
    std::unique_ptr<T[]> elements(new T[chunk_length(chunk)]);
    if (std::has_single_bit(chunk) || chunk == 0) {
      Entry* const larger = new Entry[1 + std::max<std::size_t>(1, 2 * chunk)];
      std::copy(table_, table_ + 1 + chunk, larger);
      if (chunk > 0) delete[] table_;
      table_ = larger;
    }
    table_[1 + chunk].chunk = elements.release();
  }

  Entry* table_ = empty_table();
};

}  // namespace doctor
