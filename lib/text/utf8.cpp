#include "text/utf8.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/columns.h"

namespace doctor {
namespace {

struct ChartSign {
  std::string_view sign;
  char ascii;
};

constexpr std::array<ChartSign, 19> kChartSigns = {{{"▁", '_'},
                                                    {"▂", '.'},
                                                    {"▃", '-'},
                                                    {"▄", '='},
                                                    {"▅", '+'},
                                                    {"▆", '*'},
                                                    {"▇", '%'},
                                                    {"█", '#'},
                                                    {"░", '-'},
                                                    {"▒", '='},
                                                    {"▓", '+'},
                                                    {"·", '.'},
                                                    {"▏", '.'},
                                                    {"▎", '.'},
                                                    {"▍", '-'},
                                                    {"▌", '-'},
                                                    {"▋", '='},
                                                    {"▊", '='},
                                                    {"▉", '='}}};

bool is_ascii(char character) {
  return static_cast<unsigned char>(character) < 0x80;
}

bool continues(char character) {
  return (static_cast<unsigned char>(character) & 0xC0) == 0x80;
}

std::string ascii_of(std::string_view character) {
  const auto* const found =
      std::ranges::find_if(kChartSigns, [&](const ChartSign& one) { return one.sign == character; });
  return found != kChartSigns.end() ? std::string(1, found->ascii) : std::string(column_count(character), '?');
}

}  // namespace

Utf8Character first_utf8_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t index = 1; index < length; ++index) {
    if (!is_utf8_continuation(text[index])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[index]) & 0x3fu);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x1'0000;
  if (code < least || code > 0x10'ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

std::string in_ascii(std::string text) {
  if (std::ranges::all_of(text, is_ascii)) return text;
  std::string ascii;
  ascii.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_ascii(text[at])) {
      ascii += text[at];
    } else {
      while (end < text.size() && continues(text[end])) ++end;
      ascii += ascii_of(std::string_view(text).substr(at, end - at));
    }
    at = end;
  }
  return ascii;
}

}  // namespace doctor
