#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace doctor {

/// An allocator that leaves new elements uninitialised, for buffers that are written before they are read.
template <typename T>
struct UnclearedAllocator : std::allocator<T> {
  template <typename Other>
  struct rebind {
    using other = UnclearedAllocator<Other>;
  };

  template <typename Made, typename... Arguments>
  void construct(Made* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) Made;
    } else {
      ::new (static_cast<void*>(place)) Made(std::forward<Arguments>(arguments)...);
    }
  }
};

/// A buffer for reading. Clearing it would take about as long as reading a small trace.
using RawBytes = std::vector<char, UnclearedAllocator<char>>;

}  // namespace doctor
