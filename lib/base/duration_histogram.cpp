#include "base/duration_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace doctor {
namespace {

constexpr unsigned kBits = 10;
constexpr std::uint64_t kSteps = std::uint64_t{1} << kBits;

/// Of the durations that are kept as one: the shortest, and how far they reach.
struct Step {
  double lowest = 0;
  double width = 0;
};

Step step_at(std::size_t octave, std::size_t step) {
  if (octave == 0) return {static_cast<double>(step), 0};
  return {static_cast<double>((kSteps + step) << octave), static_cast<double>(std::uint64_t{1} << octave)};
}

}  // namespace

void DurationHistogram::add(Picoseconds duration) {
  const auto value = static_cast<std::uint64_t>(std::max<Picoseconds>(0, duration));
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned octave = width > kBits + 1 ? width - (kBits + 1) : 0;
  const std::uint64_t step = octave > 0 ? (value >> octave) - kSteps : value;
  if (octaves_.size() <= octave) octaves_.resize(octave + 1);
  Octave& counted = octaves_[octave];
  if (counted.steps.empty()) counted.steps.resize(octave > 0 ? kSteps : 2 * kSteps);
  ++counted.steps[step];
  ++counted.count;
  ++count_;
  total_ += static_cast<Picoseconds>(value);
}

void DurationHistogram::add(const DurationHistogram& other) {
  if (octaves_.size() < other.octaves_.size()) octaves_.resize(other.octaves_.size());
  for (std::size_t octave = 0; octave < other.octaves_.size(); ++octave) {
    const Octave& added = other.octaves_[octave];
    Octave& sum = octaves_[octave];
    if (sum.steps.size() < added.steps.size()) sum.steps.resize(added.steps.size());
    for (std::size_t step = 0; step < added.steps.size(); ++step) sum.steps[step] += added.steps[step];
    sum.count += added.count;
  }
  count_ += other.count_;
  total_ += other.total_;
}

double DurationHistogram::at_rank(std::uint64_t rank) const {
  std::uint64_t before = 0;
  for (std::size_t octave = 0; octave < octaves_.size(); ++octave) {
    if (rank >= before + octaves_[octave].count) {
      before += octaves_[octave].count;
      continue;
    }
    std::size_t step = 0;
    for (; rank >= before + octaves_[octave].steps[step]; ++step) before += octaves_[octave].steps[step];
    const Step kept = step_at(octave, step);
    const auto here = static_cast<double>(octaves_[octave].steps[step]);
    return kept.lowest + kept.width * (static_cast<double>(rank - before) + 0.5) / here;
  }
  return 0;
}

Picoseconds DurationHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(rank);
  const double low = at_rank(below);
  const double part = rank - static_cast<double>(below);
  const double high = part > 0 ? at_rank(below + 1) : low;
  return std::llround(low + part * (high - low));
}

Picoseconds DurationHistogram::total_from(Picoseconds least) const {
  double total = 0;
  for (std::size_t octave = 0; octave < octaves_.size(); ++octave) {
    if (octaves_[octave].count == 0) continue;
    for (std::size_t step = 0; step < octaves_[octave].steps.size(); ++step) {
      const std::uint32_t count = octaves_[octave].steps[step];
      if (count == 0) continue;
      const Step kept = step_at(octave, step);
      if (kept.lowest >= static_cast<double>(least))
        total += static_cast<double>(count) * (kept.lowest + kept.width / 2);
    }
  }
  return std::llround(total);
}

}  // namespace doctor
