#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace doctor {

/// The number that the whole text is; nullopt for any other text and for a number that does not fit. `format` is the
/// std::chars_format of a floating-point number, else it is left out.
template <typename Number, typename... Format>
std::optional<Number> parse_whole(std::string_view text, Format... format) {
  Number number{};
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number, format...);
  return error == std::errc() && end == text_end ? std::optional(number) : std::nullopt;
}

}  // namespace doctor
