#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace doctor {

/// Makes elements without a value, which are written before they are read.
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

/// A buffer that is read into: to clear it would take about as long as a small trace takes to read.
using RawBytes = std::vector<char, UnclearedAllocator<char>>;

}  // namespace doctor
