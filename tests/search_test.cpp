#include "base/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/merge.h"

namespace doctor::search_test {
namespace {

/// A sorted row of numbers, and which of several rows it is.
struct Row {
  const std::vector<int>* numbers;
  std::size_t row;
  std::size_t position = 0;

  bool done() const { return position == numbers->size(); }
  void next() { ++position; }
  int number() const { return (*numbers)[position]; }
  friend bool operator<(const Row& a, const Row& b) {
    return a.number() != b.number() ? a.number() < b.number() : a.row < b.row;
  }
};

}  // namespace

TEST_CASE("a partition point is found from any hint") {
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t point = 0; point <= size; ++point) {
      for (std::size_t hint = 0; hint <= size + 2; ++hint) {
        const std::size_t found = partition_point_near(size, hint, [&](std::size_t index) {
          REQUIRE(index < size);
          return index < point;
        });
        REQUIRE(found == point);
      }
    }
  }
}

TEST_CASE("a partition point near the hint is found in a few steps") {
  for (const std::size_t point : {499'000u, 500'000u, 500'003u}) {
    int steps = 0;
    partition_point_near(1'000'000, 500'000, [&](std::size_t index) {
      ++steps;
      return index < point;
    });
    CHECK(steps <= (point == 499'000 ? 20 : 6));
  }
}

TEST_CASE("sorted rows are merged, equal items in order of their rows") {
  std::mt19937 random(1);
  for (std::size_t row_count = 0; row_count < 20; ++row_count) {
    std::vector<std::vector<int>> rows(row_count);
    std::vector<std::pair<int, std::size_t>> expected;
    for (std::size_t row = 0; row < row_count; ++row) {
      const std::size_t length = random() % 30;  // some are empty
      for (std::size_t index = 0; index < length; ++index) {
        rows[row].push_back(static_cast<int>(random() % 50));
        expected.emplace_back(rows[row].back(), row);
      }
      std::sort(rows[row].begin(), rows[row].end());
    }
    std::sort(expected.begin(), expected.end());
    std::vector<Row> cursors;
    for (std::size_t row = 0; row < row_count; ++row) cursors.push_back({&rows[row], row});
    std::vector<std::pair<int, std::size_t>> merged;
    visit_merged(std::move(cursors), [&](const Row& row) { merged.emplace_back(row.number(), row.row); });
    CHECK(merged == expected);
  }
}

TEST_CASE("rows of any order are sorted, and those of threads merged") {
  const auto value = [](std::uint64_t index) { return static_cast<int>((index * 0x9e37'79b9'7f4a'7c15u) >> 40); };
  for (const std::size_t length : {0, 1, 2, 15, 100, 1000}) {
    for (const std::size_t run : {1, 2, 20, 100, 999, 5000}) {
      CAPTURE(length);
      CAPTURE(run);
      std::vector<int> row;
      for (std::size_t index = 0; index < length; ++index) row.push_back(value(index));
      for (std::size_t first = 0; first < length; first += run) {
        std::sort(row.begin() + static_cast<std::ptrdiff_t>(first),
                  row.begin() + static_cast<std::ptrdiff_t>(std::min(first + run, length)));
      }
      std::vector<int> expected = row;
      std::sort(expected.begin(), expected.end());
      sort_unless_sorted(row, std::less<>());
      CHECK(row == expected);
    }
  }
}

}  // namespace doctor::search_test
