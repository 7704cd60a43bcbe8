#include "compare/closed_gap.h"

#include <utility>
#include <vector>

#include "base/ranks.h"
#include "base/time.h"

namespace doctor {
namespace {

/// 0 if no recording shows steps.
double median_rate(std::span<const RunSummary> runs) {
  std::vector<double> rates;
  for (const RunSummary& run : runs) {
    if (run.is_torn) continue;
    if (const std::optional<double> rate = steps_per_s(run)) rates.push_back(*rate);
  }
  return median(rates);
}

}  // namespace

std::optional<double> steps_per_s(const RunSummary& run) {
  std::optional<double> slowest;
  for (const PipelineSummary& pipeline : run.pipelines) {
    if (pipeline.feeds_another || pipeline.step.total <= 0) continue;
    const double steps = static_cast<double>(pipeline.step.count);
    const double rate = steps * static_cast<double>(kPicosecondsPerSecond) / static_cast<double>(pipeline.step.total);
    if (!slowest || rate < *slowest) slowest = rate;
  }
  return slowest;
}

std::optional<ClosedGap> closed_gap(std::string source, std::span<const RunSummary> base,
                                    std::span<const RunSummary> candidate, std::span<const RunSummary> ideal) {
  const IdealGap gap = {median_rate(base), median_rate(ideal), true};
  const double closed_to = median_rate(candidate);
  if (gap.from <= 0 || gap.to <= 0 || closed_to <= 0) return std::nullopt;
  return ClosedGap{std::move(source), gap, closed_to};
}

}  // namespace doctor
