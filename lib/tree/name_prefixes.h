#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace doctor {

/// A hash of every prefix of a long name that ends with one of its parts, with and without the element index at its
/// end. One pass over the name: it may have a hundred thousand parts.
struct NamePrefix {
  std::size_t length = 0;
  std::uint64_t hash = 0;
};

class NamePrefixes {
 public:
  explicit NamePrefixes(std::string_view name) {
    constexpr std::size_t kNone = std::string_view::npos;
    std::size_t open = kNone;  // of the last '[' in this part
    std::uint64_t hash_before_open = 0;
    for (std::size_t index = 0; index <= name.size(); ++index) {
      if (index == name.size() || name.substr(index, 2) == "::") {
        const bool has_index = open != kNone && index > 0 && name[index - 1] == ']';
        if (has_index) prefixes_.push_back({open, hash_before_open});
        prefixes_.push_back({index, hash_});
        open = kNone;
      }
      if (index == name.size()) break;
      if (name[index] == '[') {
        open = index;
        hash_before_open = hash_;
      }
      add(name[index]);
    }
  }

  /// From the shortest to the longest; the last is the whole name, with what `of_whole_name` says.
  const std::vector<NamePrefix>& all() const { return prefixes_; }
  std::uint64_t of_whole_name() const { return hash_; }

 private:
  /// A match is compared anyway.
  void add(char byte) { hash_ = hash_with(hash_, static_cast<unsigned char>(byte)); }

  std::vector<NamePrefix> prefixes_;
  std::uint64_t hash_ = kEmptyHash;
};

}  // namespace doctor
