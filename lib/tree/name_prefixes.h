#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace doctor {

/// The fnv1a_64() of every prefix of a long name that ends with one of its parts, with and without the element index at
/// its end. They are computed in one pass, because a name may have a hundred thousand parts.
struct NamePrefix {
  std::size_t length = 0;
  std::uint64_t hash = 0;
};

class NamePrefixes {
 public:
  explicit NamePrefixes(std::string_view name) {
    constexpr std::size_t kNone = std::string_view::npos;
    constexpr std::size_t kUsualParts = 16;
    prefixes_.reserve(kUsualParts);
    std::size_t open = kNone;  // the place of the last '[' in this part
    std::uint64_t hash = kEmptyHash;
    std::uint64_t hash_before_open = 0;
    for (std::size_t index = 0; index <= name.size(); ++index) {
      if (index == name.size() || name.substr(index, 2) == "::") {
        const bool has_index = open != kNone && index > 0 && name[index - 1] == ']';
        if (has_index) prefixes_.push_back({open, hash_before_open});
        prefixes_.push_back({index, hash});
        open = kNone;
      }
      if (index == name.size()) break;
      if (name[index] == '[') {
        open = index;
        hash_before_open = hash;
      }
      hash = hash_with(hash, static_cast<unsigned char>(name[index]));  // collisions do no harm: matches are compared
    }
  }

  /// All prefixes from the shortest to the longest, which is the whole name.
  const std::vector<NamePrefix>& all() const { return prefixes_; }

 private:
  std::vector<NamePrefix> prefixes_;
};

}  // namespace doctor
