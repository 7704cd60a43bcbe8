#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace doctor {

/// A value for some of a trace's iterators, and `T{}` for all others. A pipeline stores values for its own iterators
/// only, because a trace may have a hundred thousand pipelines.
template <typename T>
class ByIterator {
 public:
  struct Entry {
    IteratorId id = kNoIterator;
    T value{};
  };

  ByIterator() = default;
  /// Values of the first iterators of the trace.
  ByIterator(std::initializer_list<T> values) {
    for (const T& value : values) entries_.push_back({static_cast<IteratorId>(entries_.size()), value});
  }

  /// Adds a value after those of all earlier iterators: ids must come in order.
  void append(IteratorId id, T value) { entries_.push_back({id, std::move(value)}); }

  /// `T{}` for an iterator that has no value.
  T operator[](IteratorId id) const {
    const auto place = std::lower_bound(entries_.begin(), entries_.end(), id, is_before);
    return place != entries_.end() && place->id == id ? place->value : T{};
  }
  T& operator[](IteratorId id) {
    auto place = std::lower_bound(entries_.begin(), entries_.end(), id, is_before);
    if (place == entries_.end() || place->id != id) place = entries_.insert(place, {id, T{}});
    return place->value;
  }

  /// The iterators that have a value, by id.
  std::span<const Entry> entries() const { return entries_; }

 private:
  static bool is_before(const Entry& entry, IteratorId id) { return entry.id < id; }

  std::vector<Entry> entries_;
};

}  // namespace doctor
