#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"

namespace doctor {

/// Paths that were seen, by the millions: of each only two numbers made from it are kept. That two of a million paths
/// have the same ones is less likely than that the memory which holds them fails.
class PathSet {
 public:
  /// Whether it was not there.
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
