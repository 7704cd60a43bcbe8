#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace doctor {
namespace {

constexpr std::size_t kLongestWord = 64;   // longer ones are not typos of our names
constexpr std::size_t kLongestName = 512;  // of foreign names the rest does not count

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> distances((from.size() + 1) * width);
  const auto at = [&](std::size_t row, std::size_t column) -> std::size_t& { return distances[row * width + column]; };
  for (std::size_t row = 0; row <= from.size(); ++row) at(row, 0) = row;
  for (std::size_t column = 0; column < width; ++column) at(0, column) = column;
  for (std::size_t row = 1; row <= from.size(); ++row) {
    for (std::size_t column = 1; column < width; ++column) {
      const bool is_same = from[row - 1] == to[column - 1];
      std::size_t best =
          std::min({at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + (is_same ? 0 : 1)});
      const bool is_swap = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
      if (is_swap) best = std::min(best, at(row - 2, column - 2) + 1);
      at(row, column) = best;
    }
  }
  return distances.back();
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& names) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3);
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance > best_distance || (!best.empty() && distance == best_distance)) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  if (const std::string_view near = nearest(word, names); !near.empty()) {
    return "did you mean '" + std::string(near) + "'?";
  }
  std::string text = "known:";
  for (const std::string_view name : names) text += (name == names.front() ? " " : ", ") + std::string(name);
  return text;
}

std::vector<std::string_view> by_nearness(std::string_view word, std::vector<std::string_view> names) {
  std::vector<std::pair<std::size_t, std::string_view>> measured;
  measured.reserve(names.size());
  for (const std::string_view name : names) {
    measured.emplace_back(edit_distance(word.substr(0, kLongestWord), name.substr(0, kLongestName)), name);
  }
  std::stable_sort(measured.begin(), measured.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(measured.begin(), measured.end(), names.begin(), [](const auto& entry) { return entry.second; });
  return names;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;  // the last one seen: only that one ever has to take more
  std::size_t after_star = 0;                 // where in the text the rest of the pattern was last tried
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after_star = in_text;
    } else if (in_pattern < pattern.size() && (pattern[in_pattern] == '?' || pattern[in_pattern] == text[in_text])) {
      ++in_pattern;
      ++in_text;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      in_text = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace doctor
