#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace doctor {

// Texts of a few bytes, as keys and numbers are, without a call and without a loop over their bytes.

/// 8 bytes as the machine has them.
[[gnu::always_inline]] inline std::uint64_t load_word(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Up to 8 bytes of `text`, zero after its end. On a little-endian machine the first byte is the lowest.
[[gnu::always_inline]] inline std::uint64_t leading_word(std::string_view text) {
  const char* const from = text.data();
  const std::size_t count = text.size();
  if (count >= sizeof(std::uint64_t)) return load_word(from);
  if (count >= 4) {  // two halves that overlap
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + count - 4, sizeof high);
    return low | static_cast<std::uint64_t>(high) << (count - 4) * 8;
  }
  std::uint64_t word = 0;
  for (std::size_t index = count; index > 0; --index) word = word << 8 | static_cast<unsigned char>(from[index - 1]);
  return word;
}

/// Whether two texts are the same.
[[gnu::always_inline]] inline bool is_same_text(std::string_view a, std::string_view b) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (a.size() != b.size()) return false;
  if (a.size() > 2 * kWord) return std::memcmp(a.data(), b.data(), a.size()) == 0;
  if (a.size() < kWord) return leading_word(a) == leading_word(b);
  const std::size_t last = a.size() - kWord;
  return load_word(a.data()) == load_word(b.data()) && load_word(a.data() + last) == load_word(b.data() + last);
}

}  // namespace doctor
