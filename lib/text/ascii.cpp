#include "text/ascii.h"

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
      std::find_if(kChartSigns.begin(), kChartSigns.end(), [&](const ChartSign& one) { return one.sign == character; });
  return found != kChartSigns.end() ? std::string(1, found->ascii) : std::string(column_count(character), '?');
}

}  // namespace

std::string in_ascii(std::string text) {
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
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
