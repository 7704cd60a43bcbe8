#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/short_text.h"
#include "trace/string_table.h"

namespace doctor {

/// Interns short texts that come again and again, such as values of attributes, without hashing each in full. It
/// belongs to one table.
class RecentStrings {
 public:
  StringId intern(std::string_view text, StringTable& strings) {
    constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15u;
    if (text.size() > kLongest) return strings.intern(text);
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::uint64_t mixed = leading_word(text) + text.size();
    if (text.size() > kWord) mixed ^= 3 * load_word(text.data() + text.size() - kWord);
    Recent& recent = recent_[mixed * kSpread >> 58];
    if (recent.id && is_same_text(recent.text, text)) return *recent.id;
    const std::uint64_t refused = strings.refused();
    const StringId id = strings.intern(text);
    // A text that the table refuses is not remembered, so that each occurrence is counted.
    if (strings.refused() == refused) recent = {std::string(text), id};
    return id;
  }

 private:
  static constexpr std::size_t kLongest = 64;
  struct Recent {
    std::string text;
    std::optional<StringId> id;
  };
  std::array<Recent, 64> recent_;  ///< placed by hash
};

}  // namespace doctor
