#include "base/intervals.h"

#include <doctest/doctest.h>

#include <vector>

namespace doctor {

TEST_CASE("intervals: union, clipping and covered time") {
  CHECK(merged({{5, 7}, {0, 2}, {1, 4}, {9, 9}}) == std::vector<Interval>{{0, 4}, {5, 7}});
  CHECK(total_length(merged({{0, 4}, {2, 6}})) == 6);
  std::vector<Interval> parts;
  const std::vector<Interval> windows = {{0, 10}, {20, 30}};
  clip({5, 25}, windows, parts);
  CHECK(parts == std::vector<Interval>{{5, 10}, {20, 25}});
  CoveredTime covered(windows);
  covered.add({-5, 3});
  covered.add({2, 22});
  covered.add({4, 6});
  covered.add({29, 99});
  CHECK(covered.total() == 10 + 2 + 1);
}

}  // namespace doctor
