// Quantiles of many durations in a bounded space.

#include "base/duration_histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace doctor::duration_histogram_test {
namespace {

DurationHistogram histogram_of(const std::vector<Picoseconds>& values) {
  DurationHistogram histogram;
  for (const Picoseconds value : values) histogram.add(value);
  return histogram;
}

/// Durations of all sizes, from picoseconds to days.
std::vector<Picoseconds> random_durations(std::mt19937_64& random, std::size_t count, Picoseconds least = 0) {
  std::vector<Picoseconds> values;
  for (std::size_t index = 0; index < count; ++index) {
    values.push_back(least + static_cast<Picoseconds>(random() >> (8 + random() % 54)));
  }
  return values;
}

/// Quantile of type 7 of Hyndman and Fan.
double exact_quantile(std::vector<Picoseconds> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto low = static_cast<double>(values[below]);
  if (below + 1 >= values.size()) return low;
  return low + (rank - static_cast<double>(below)) * (static_cast<double>(values[below + 1]) - low);
}

constexpr double kShares[] = {0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

TEST_CASE("quantiles are those of the sorted durations to 1 part in 1024") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Picoseconds> values = random_durations(random, 1 + random() % 300);
    const DurationHistogram histogram = histogram_of(values);
    for (const double share : kShares) {
      CAPTURE(seed);
      CAPTURE(share);
      const double exact = exact_quantile(values, share);
      CHECK(std::abs(static_cast<double>(histogram.quantile(share)) - exact) <= exact / 1024 + 1);
    }
  }
}

TEST_CASE("number and total are exact") {
  std::mt19937_64 random(1);
  const std::vector<Picoseconds> values = random_durations(random, 500);
  CHECK(histogram_of(values).count() == 500);
  CHECK(histogram_of(values).total() == std::accumulate(values.begin(), values.end(), Picoseconds{0}));
}

TEST_CASE("the order of adding, and adding in parts, changes nothing") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Picoseconds> values = random_durations(random, 200);
    const DurationHistogram in_order = histogram_of(values);
    std::vector<Picoseconds> reversed(values.rbegin(), values.rend());
    const std::size_t cut = random() % values.size();
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(cut);
    DurationHistogram merged = histogram_of({values.begin(), middle});
    merged.add(histogram_of({middle, values.end()}));
    for (const DurationHistogram& other : {histogram_of(reversed), merged}) {
      CHECK(other.count() == in_order.count());
      CHECK(other.total() == in_order.total());
      CHECK(other.total_from(1'000'000) == in_order.total_from(1'000'000));
      for (const double share : kShares) CHECK(other.quantile(share) == in_order.quantile(share));
    }
  }
}

TEST_CASE("durations twice as long have quantiles twice as long, from a nanosecond up") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Picoseconds> values = random_durations(random, 100, kPicosecondsPerMicrosecond / 1000);
    std::vector<Picoseconds> doubled;
    doubled.reserve(values.size());
    for (const Picoseconds value : values) doubled.push_back(2 * value);
    for (const double share : kShares) {
      const double twice = 2 * static_cast<double>(histogram_of(values).quantile(share));
      // Each is rounded to a picosecond, and a step of 1 ps has no middle.
      CHECK(std::abs(static_cast<double>(histogram_of(doubled).quantile(share)) - twice) <= 2);
    }
  }
}

TEST_CASE("the total of what takes at least so long") {
  const DurationHistogram histogram = histogram_of({10, 20, 30, 1'000'000'000, 2'000'000'000});
  CHECK(histogram.total_from(0) == doctest::Approx(3'000'000'060.0).epsilon(0.001));
  CHECK(histogram.total_from(20) == doctest::Approx(3'000'000'050.0).epsilon(0.001));
  CHECK(histogram.total_from(500'000'000) == doctest::Approx(3'000'000'000.0).epsilon(0.001));
  CHECK(histogram.total_from(1'500'000'000) == doctest::Approx(2'000'000'000.0).epsilon(0.001));
  CHECK(histogram.total_from(3'000'000'000) == 0);
}

TEST_CASE("nothing at all, one duration, a negative one and the longest") {
  CHECK(DurationHistogram().quantile(0.5) == 0);
  CHECK(DurationHistogram().total_from(0) == 0);
  DurationHistogram nothing;
  nothing.add(DurationHistogram());
  CHECK(nothing.count() == 0);
  for (const double share : kShares) CHECK(histogram_of({1234}).quantile(share) == 1234);
  CHECK(histogram_of({7, 7}).quantile(2) == 7);
  CHECK(histogram_of({7, 7}).quantile(-1) == 7);
  const DurationHistogram negative = histogram_of({-5, -7});
  CHECK(negative.count() == 2);
  CHECK(negative.total() == 0);
  CHECK(negative.quantile(0.5) == 0);
  const double longest = static_cast<double>(INT64_MAX);
  CHECK(static_cast<double>(histogram_of({INT64_MAX}).quantile(0.5)) == doctest::Approx(longest).epsilon(0.001));
}

}  // namespace

}  // namespace doctor::duration_histogram_test
