#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace doctor {

/// Protocol buffers, as far as an XSpace needs them.
class FuzzedMessage {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    varint((field << 3U) | 2U);
    varint(value.size());
    text_ += value;
  }
  void real(std::uint32_t field, double value) {
    varint((field << 3U) | 1U);
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8U) text_ += static_cast<char>(bits & 0xffU);
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

}  // namespace doctor
