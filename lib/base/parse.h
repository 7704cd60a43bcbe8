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

/// Whether a list has this word: the words of `list` stand between blanks, with one before the first and after the
/// last.
inline bool has_word(std::string_view list, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  }
  return false;
}

}  // namespace doctor
