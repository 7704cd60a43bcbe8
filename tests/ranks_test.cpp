// Rank tests on a handful of values.

#include "base/ranks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace doctor::ranks_test {
namespace {

/// Twice the number of pairs in which the candidate's value is above; ties count half.
int doubled_pairs_above(const std::vector<double>& base, const std::vector<double>& candidate) {
  int above = 0;
  for (const double below : base) {
    for (const double value : candidate) above += value > below ? 2 : value == below ? 1 : 0;
  }
  return above;
}

/// Every way to deal out all values, by hand.
double p_value_by_permutation(const std::vector<double>& base, const std::vector<double>& candidate) {
  std::vector<double> all = base;
  all.insert(all.end(), candidate.begin(), candidate.end());
  const int seen = doubled_pairs_above(base, candidate);
  std::vector<bool> is_candidate(all.size());
  std::fill(is_candidate.begin() + static_cast<std::ptrdiff_t>(base.size()), is_candidate.end(), true);
  double ways = 0;
  double as_high = 0;
  do {
    std::vector<double> dealt[2];
    for (std::size_t index = 0; index < all.size(); ++index) dealt[is_candidate[index] ? 1 : 0].push_back(all[index]);
    ways += 1;
    as_high += doubled_pairs_above(dealt[0], dealt[1]) >= seen ? 1 : 0;
  } while (std::next_permutation(is_candidate.begin(), is_candidate.end()));
  return as_high / ways;
}

/// Part of all ways to deal out n + m different values in which `above` or more pairs are above: counts subsets of
/// ranks by their sum, which the tested code does not where it approximates.
double exact_p_value(std::size_t n, std::size_t m, std::size_t above) {
  std::vector<std::vector<double>> ways(m + 1, std::vector<double>((n + m) * (n + m + 1) / 2 + 1));
  ways[0][0] = 1;
  for (std::size_t rank = 1; rank <= n + m; ++rank) {
    for (std::size_t picked = m; picked > 0; --picked) {
      for (std::size_t sum = ways[0].size() - 1; sum >= rank; --sum) ways[picked][sum] += ways[picked - 1][sum - rank];
    }
  }
  double all = 0;
  double as_high = 0;
  for (std::size_t sum = 0; sum < ways[m].size(); ++sum) {
    all += ways[m][sum];
    if (sum >= above + m * (m + 1) / 2) as_high += ways[m][sum];
  }
  return as_high / all;
}

std::vector<double> values_from(double first, std::size_t count) {
  std::vector<double> values;
  for (std::size_t index = 0; index < count; ++index) values.push_back(first + static_cast<double>(index));
  return values;
}

TEST_CASE("a quantile is a value that is there; the lower one is never the largest of several") {
  const std::vector<int> ten = {10, 1, 9, 2, 8, 3, 7, 4, 6, 5};
  CHECK(quantile(ten, 0.95) == 10);
  CHECK(quantile(ten, 0.5) == 5);
  CHECK(quantile(ten, 0) == 1);
  CHECK(quantile(std::vector<int>{7}, 0.5) == 7);
  CHECK(quantile(std::vector<int>(), 0.5) == 0);
  CHECK(lower_quantile(ten, 0.95) == 9);
  CHECK(lower_quantile(ten, 1) == 10);
  CHECK(lower_quantile(std::vector<int>{3, 9}, 0.95) == 3);
  CHECK(lower_quantile(std::vector<int>{7}, 0.95) == 7);
  CHECK(lower_quantile(std::vector<int>(), 0.95) == 0);
}

TEST_CASE("p-values of the published tables") {
  struct Case {
    std::vector<double> base;
    std::vector<double> candidate;
    double p_value;
  };
  for (const Case& one : std::vector<Case>{
           {{1, 2, 3}, {4, 5, 6}, 1.0 / 20},
           {{1, 2, 4}, {3, 5, 6}, 2.0 / 20},
           {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 1.0 / 252},
           {{1, 2, 3, 4, 6}, {5, 7, 8, 9, 10}, 2.0 / 252},
           {{1, 2, 3, 4, 7}, {5, 6, 8, 9, 10}, 4.0 / 252},
           {{4, 5, 6}, {1, 2, 3}, 1},
           {{1}, {2}, 0.5},
           {{1, 1}, {1, 1}, 1},
           {{}, {1}, 1},
           {{1}, {}, 1},
       }) {
    CAPTURE(one.p_value);
    CHECK(mann_whitney_above(one.base, one.candidate) == doctest::Approx(one.p_value).epsilon(1e-12));
  }
}

TEST_CASE("p-values are those of all permutations, with ties") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&] {
      std::vector<double> values;
      const std::size_t count = 1 + random() % 5;
      while (values.size() < count) values.push_back(static_cast<double>(random() % 8));
      return values;
    };
    const std::vector<double> base = draw();
    const std::vector<double> candidate = draw();
    CAPTURE(seed);
    CHECK(mann_whitney_above(base, candidate) ==
          doctest::Approx(p_value_by_permutation(base, candidate)).epsilon(1e-9));
  }
}

TEST_CASE("from 21 values on the approximation is near the exact one") {
  for (const std::size_t shift : {0U, 3U, 6U, 9U, 12U}) {
    for (const std::size_t count : {20U, 21U, 25U}) {
      CAPTURE(shift);
      CAPTURE(count);
      const std::vector<double> base = values_from(0, count);
      const std::vector<double> candidate = values_from(0.5 + static_cast<double>(shift), count);
      const auto above = static_cast<std::size_t>(doubled_pairs_above(base, candidate) / 2);
      const double exact = exact_p_value(count, count, above);
      CHECK(std::abs(mann_whitney_above(base, candidate) - exact) <= 0.01 * exact + 0.0004);
    }
  }
  CHECK(mann_whitney_above(std::vector<double>(30, 1.0), std::vector<double>(30, 1.0)) == 1);
}

TEST_CASE("the smallest p-value is that of the clearest outcome") {
  for (std::size_t n = 1; n <= 7; ++n) {
    for (std::size_t m = 1; m <= 7; ++m) {
      const double clearest = mann_whitney_above(values_from(0, n), values_from(100, m));
      CHECK(smallest_p_value(n, m) == doctest::Approx(clearest).epsilon(1e-12));
    }
  }
}

TEST_CASE("Holm's adjustment of a worked example") {
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t index = 0; index < expected.size(); ++index) {
    CHECK(adjusted[index] == doctest::Approx(expected[index]).epsilon(1e-12));
  }
  CHECK(holm_adjusted(std::vector<double>{0.9, 0.8}) == std::vector<double>{1, 1});
  CHECK(holm_adjusted(std::vector<double>{0.2}) == std::vector<double>{0.2});
  CHECK(holm_adjusted({}).empty());
}

TEST_CASE("intervals of ratios are those of the ordered pairs, with the confidence that they have") {
  const auto three = ratio_interval(std::vector<double>{1, 2, 4}, std::vector<double>{8, 16, 32});
  REQUIRE(three);
  CHECK(three->low == 2);
  CHECK(three->high == 32);
  CHECK(three->confidence == doctest::Approx(1 - 2.0 / 20));
  // P(U <= 2) = 4 / 252, P(U <= 3) = 7 / 252 is more than 2.5%: the third pair from either end.
  const std::vector<double> base = {1, 1, 1, 1, 1};
  const auto five = ratio_interval(base, std::vector<double>{1, 2, 3, 4, 5});
  REQUIRE(five);
  CHECK(five->confidence == doctest::Approx(1 - 8.0 / 252));
  CHECK(five->low == 1);
  CHECK(five->high == 5);
  const auto primes = ratio_interval(std::vector<double>{2, 3, 5, 7, 11}, std::vector<double>{13, 17, 19, 23, 29});
  REQUIRE(primes);
  CHECK(primes->low == doctest::Approx(19.0 / 11));  // above 13/11 and 17/11
  CHECK(primes->high == doctest::Approx(29.0 / 3));  // below 29/2 and 23/2
  CHECK_FALSE(ratio_interval({}, base));
  CHECK_FALSE(ratio_interval(base, {}));
  const auto one = ratio_interval(std::vector<double>{2}, std::vector<double>{3});
  REQUIRE(one);
  CHECK(one->low == 1.5);
  CHECK(one->confidence == doctest::Approx(0));
}

TEST_CASE("intervals of many recordings cover with 95%") {
  for (const std::size_t count : {4U, 5U, 8U, 12U, 20U, 21U, 25U, 28U}) {
    CAPTURE(count);
    const std::vector<double> ones(count, 1.0);
    // The ratios are 0.. count - 1, each `count` times, so the ends say how many pairs were left out.
    std::vector<double> powers;
    for (std::size_t index = 0; index < count; ++index) powers.push_back(static_cast<double>(index + 1));
    std::vector<double> fractions;
    for (std::size_t index = 0; index < count; ++index) fractions.push_back(1 / (1 + static_cast<double>(index) / 1e4));
    const auto interval = ratio_interval(fractions, powers);
    REQUIRE(interval);
    std::size_t below = 0;
    for (const double a : fractions) {
      for (const double b : powers) below += b / a < interval->low ? 1U : 0U;
    }
    // `below` pairs left out on either side: the interval misses if that many pairs or fewer are below.
    const double missed = exact_p_value(count, count, count * count - below);
    CHECK(2 * missed <= 0.05 + 1e-9);
    if (count <= 20) CHECK(interval->confidence == doctest::Approx(1 - 2 * missed).epsilon(1e-9));
    // The next narrower one would miss too often.
    CHECK(2 * exact_p_value(count, count, count * count - below - 1) > 0.045);
  }
}

TEST_CASE("how many recordings would tell") {
  CHECK(recordings_needed(1, 0.01) == 5);
  CHECK(recordings_needed(1, 0.05) == 3);
  CHECK(recordings_needed(0.8, 0.05) == 16);  // (1.645 + 1.282)^2 / (3 * 0.3^2) = 31.7, on two sides
  CHECK(recordings_needed(0.999, 0.01) >= 5);
  CHECK_FALSE(recordings_needed(0.5, 0.01));
  CHECK_FALSE(recordings_needed(0.3, 0.01));
  CHECK_FALSE(recordings_needed(1, 0));
  CHECK_FALSE(recordings_needed(0.9, -1));
  CHECK(*recordings_needed(0.7, 0.01) > *recordings_needed(0.9, 0.01));
  CHECK(*recordings_needed(0.9, 0.001) > *recordings_needed(0.9, 0.05));
}

TEST_CASE("pairs above, and the middle") {
  CHECK(share_above(std::vector<double>{1, 2}, std::vector<double>{2, 3}) == doctest::Approx(3.5 / 4));
  CHECK(share_above({}, std::vector<double>{1}) == 0.5);
  CHECK(median(std::vector<double>{}) == 0);
  CHECK(median(std::vector<double>{3, 1, 2}) == 2);
  CHECK(median(std::vector<double>{4, 1, 2, 3}) == 2.5);
  CHECK(median(std::vector<std::int64_t>{2, 1}) == 1);
  const std::vector<std::int64_t> values = {5, 3, 1};
  CHECK(median(std::span(values).first(2)) == 4);
}

}  // namespace

}  // namespace doctor::ranks_test
