#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace doctor {

// Reading and comparing texts of a few bytes, such as keys and numbers, without a call and without a loop over bytes.

/// Loads 8 bytes in the byte order of the machine.
[[gnu::always_inline]] inline std::uint64_t load_word(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Up to 8 bytes of `text`, followed by zeros. On a little-endian machine the first byte is the lowest.
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
  if (count == 0) return 0;
  const auto byte = [&](std::size_t index) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(from[index])) << index * 8;
  };
  return byte(0) | byte(count / 2) | byte(count - 1);  // all bytes, some of them twice
}

/// Compares two texts of [kSize, 2 * kSize] bytes, where kSize is that of one word or of two.
template <std::size_t kSize>
[[gnu::always_inline]] inline bool is_same_pair(const char* a, const char* b, std::size_t size) {
  std::uint64_t differences = 0;
  for (std::size_t at = 0; at < kSize; at += sizeof(std::uint64_t)) {
    const std::size_t from_end = size - kSize + at;
    differences |= (load_word(a + at) ^ load_word(b + at)) | (load_word(a + from_end) ^ load_word(b + from_end));
  }
  return differences == 0;
}

/// Compares two texts. Up to 32 bytes are compared as two pieces that overlap.
[[gnu::always_inline]] inline bool is_same_text(std::string_view a, std::string_view b) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size < kWord) return leading_word(a) == leading_word(b);
  if (size <= 2 * kWord) return is_same_pair<kWord>(a.data(), b.data(), size);
  if (size <= 4 * kWord) return is_same_pair<2 * kWord>(a.data(), b.data(), size);
  return std::memcmp(a.data(), b.data(), size) == 0;
}

}  // namespace doctor
