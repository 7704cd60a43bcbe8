#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"

namespace doctor {

/// Paths that were seen, by the millions. Two hashes of each are kept. A collision among a million paths is less likely
/// than a memory error.
class PathSet {
 public:
  /// Adds a path; true if it is new.
  bool add(std::string_view path) { return keys_.insert(key_of(path)).second; }
  bool contains(std::string_view path) const { return keys_.contains(key_of(path)); }
  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    friend bool operator==(const Key& a, const Key& b) { return a.first == b.first && a.second == b.second; }
  };
  struct FirstPart {
    std::size_t operator()(const Key& key) const { return key.first; }
  };

  static Key key_of(std::string_view path) { return {fnv1a_64(path), std::hash<std::string_view>()(path)}; }

  std::unordered_set<Key, FirstPart> keys_;
};

}  // namespace doctor
