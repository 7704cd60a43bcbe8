#include "text/area_chart.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace doctor {

std::vector<std::string> area_chart(const std::vector<double>& values, std::size_t height) {
  static constexpr std::array<std::string_view, 9> kLevels = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kEighths = kLevels.size() - 1;
  std::vector<std::string> lines(height);
  const double greatest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  for (const double value : values) {
    const double filled = greatest > 0 ? value / greatest * static_cast<double>(height * kEighths) : 0;
    const auto eighths = static_cast<std::size_t>(value > 0 ? std::max(filled + 0.5, 1.0) : 0);
    for (std::size_t line = 0; line < height; ++line) {
      const std::size_t below = (height - 1 - line) * kEighths;
      lines[line] += kLevels[std::min(eighths - std::min(eighths, below), kEighths)];
    }
  }
  return lines;
}

}  // namespace doctor
