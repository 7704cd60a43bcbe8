#include "base/ranks.h"

namespace doctor {
namespace {

constexpr std::size_t kMostExact = 20;

/// Twice the rank of each value among all, ties sharing their mean: doubled so that it is whole.
std::vector<std::size_t> doubled_ranks(std::span<const double> base, std::span<const double> candidate) {
  std::vector<double> all(base.begin(), base.end());
  all.insert(all.end(), candidate.begin(), candidate.end());
  std::vector<std::size_t> ranks;
  ranks.reserve(all.size());
  for (const double value : all) {
    std::size_t below = 0;
    std::size_t same = 0;
    for (const double other : all) {
      below += other < value ? 1U : 0U;
      same += other == value ? 1U : 0U;
    }
    ranks.push_back(2 * below + same + 1);
  }
  return ranks;
}

/// Share of all ways to pick `count` of the ranks whose sum is `least` or more.
double share_of_sums_from(std::span<const std::size_t> ranks, std::size_t count, std::size_t least) {
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  // ways[picked * (total + 1) + sum]; doubles count exactly up to 2^53, which is more than there are for 40 ranks.
  std::vector<double> ways((count + 1) * (total + 1));
  ways[0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t picked = count; picked > 0; --picked) {
      for (std::size_t sum = total; sum >= rank; --sum) {
        ways[picked * (total + 1) + sum] += ways[(picked - 1) * (total + 1) + sum - rank];
      }
    }
  }
  const auto begin = ways.begin() + static_cast<std::ptrdiff_t>(count * (total + 1));
  const double all = std::accumulate(begin, ways.end(), 0.0);
  return std::accumulate(begin + static_cast<std::ptrdiff_t>(least), ways.end(), 0.0) / all;
}

double upper_normal_tail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

double approximate_p_value(std::span<const std::size_t> ranks, std::size_t base, std::size_t sum) {
  const auto n = static_cast<double>(base);
  const auto m = static_cast<double>(ranks.size() - base);
  std::vector<std::size_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  double ties = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    const auto end =
        static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), sorted[begin]) - sorted.begin());
    const auto count = static_cast<double>(end - begin);
    ties += count * count * count - count;
    begin = end;
  }
  const double all = n + m;
  const double above = static_cast<double>(sum) / 2 - m * (m + 1) / 2;
  const double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  return upper_normal_tail((above - n * m / 2 - 0.5) / std::sqrt(variance));
}

/// Ways to deal out base + candidate recordings in which the candidates are above in `above` pairs, by `above`.
std::vector<double> ways_by_pairs_above(std::size_t base, std::size_t candidate) {
  // The recurrence of Mann and Whitney: the largest value is a candidate's (above all of the base) or the base's.
  std::vector<std::vector<double>> without_candidate(base + 1, std::vector<double>{1});
  for (std::size_t m = 1; m <= candidate; ++m) {
    std::vector<std::vector<double>> ways(base + 1);
    ways[0] = {1};
    for (std::size_t n = 1; n <= base; ++n) {
      ways[n].assign(n * m + 1, 0);
      for (std::size_t u = 0; u < ways[n - 1].size(); ++u) ways[n][u] += ways[n - 1][u];
      for (std::size_t u = 0; u < without_candidate[n].size(); ++u) ways[n][u + n] += without_candidate[n][u];
    }
    without_candidate = std::move(ways);
  }
  return without_candidate[base];
}

}  // namespace

double mann_whitney_above(std::span<const double> base, std::span<const double> candidate) {
  if (base.empty() || candidate.empty()) return 1;
  const std::vector<std::size_t> ranks = doubled_ranks(base, candidate);
  const std::size_t sum =
      std::accumulate(ranks.begin() + static_cast<std::ptrdiff_t>(base.size()), ranks.end(), std::size_t{0});
  if (std::max(base.size(), candidate.size()) > kMostExact) return approximate_p_value(ranks, base.size(), sum);
  return share_of_sums_from(ranks, candidate.size(), sum);
}

double smallest_p_value(std::size_t base, std::size_t candidate) {
  double ways = 1;
  for (std::size_t picked = 1; picked <= candidate; ++picked) {
    ways = ways * static_cast<double>(base + picked) / static_cast<double>(picked);
  }
  return 1 / ways;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto remaining = static_cast<double>(order.size() - place);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

std::optional<RatioInterval> ratio_interval(std::span<const double> base, std::span<const double> candidate) {
  constexpr double kMostMissed = 0.025;  // on either side: 95 % between them
  if (base.empty() || candidate.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const double below : base) {
    for (const double above : candidate) ratios.push_back(above / below);
  }
  std::sort(ratios.begin(), ratios.end());
  std::size_t cut = 0;  // ratios left out on either side
  double missed = smallest_p_value(base.size(), candidate.size());
  if (std::max(base.size(), candidate.size()) > kMostExact) {
    const double pairs = static_cast<double>(ratios.size());
    const double deviation = std::sqrt(pairs * static_cast<double>(base.size() + candidate.size() + 1) / 12);
    cut = static_cast<std::size_t>(std::max(0.0, pairs / 2 - 1.96 * deviation));
    missed = kMostMissed;
  } else {
    const std::vector<double> ways = ways_by_pairs_above(base.size(), candidate.size());
    const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
    double tail = ways[0] / all;
    while (cut + 1 < ratios.size() / 2 && tail + ways[cut + 1] / all <= kMostMissed) tail += ways[++cut] / all;
    missed = tail;
  }
  return RatioInterval{ratios[cut], ratios[ratios.size() - 1 - cut], 1 - 2 * missed};
}

std::optional<std::size_t> recordings_needed(double above, double significance) {
  // Noether, Sample size determination for some common nonparametric tests, 1987, with groups of equal size.
  constexpr double kPower90 = 1.2816;
  if (above <= 0.5 || significance <= 0) return std::nullopt;
  double low = 0;
  double high = 10;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (upper_normal_tail(middle) > significance ? low : high) = middle;
  }
  std::size_t least = 1;
  while (smallest_p_value(least, least) > significance) ++least;
  if (above >= 1) return least;
  const double effect = above - 0.5;
  const double total = (low + kPower90) * (low + kPower90) / (3 * effect * effect);
  return std::max(least, static_cast<std::size_t>(std::ceil(total / 2)));
}

double share_above(std::span<const double> base, std::span<const double> candidate) {
  if (base.empty() || candidate.empty()) return 0.5;
  double above = 0;
  for (const double below : base) {
    for (const double value : candidate) above += value > below ? 1 : value == below ? 0.5 : 0;
  }
  return above / static_cast<double>(base.size() * candidate.size());
}

}  // namespace doctor
