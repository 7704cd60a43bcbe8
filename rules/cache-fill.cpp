#include <fmt/format.h>

#include "base/numbers.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"

namespace doctor::rules {
namespace {

/// The cache that is read most, if several are filled.
const CacheFill* largest_fill(const PipelineMeasurement& pipeline) {
  const CacheFill* largest = nullptr;
  for (const CacheFill& fill : pipeline.cache_fills) {
    if (largest == nullptr || fill.input_calls > largest->input_calls) largest = &fill;
  }
  return largest;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const CacheFill* fill = largest_fill(ranked.pipeline);
  if (!examiner.holds("the input of a cache is read, by at least every second call of it", fill != nullptr)) {
    return std::nullopt;
  }
  examiner.is_about(fill->iterator);
  Finding finding;
  finding.severity = Severity::note;
  finding.subject = ranked[fill->iterator].long_name;
  finding.message =
      fmt::format("{} is still being filled: its input is read in {} of {}", describe(ranked.host, fill->iterator),
                  format_count(fill->input_calls), format_count(fill->calls, "call"));
  finding.evidence = {number_of("input_calls", fill->input_calls, "calls"), number_of("calls", fill->calls, "calls")};
  finding.advice = {
      {"What is behind the cache is slow in the first epoch only. Record a later epoch before you optimise "
       "it: then these findings may be gone.",
       std::nullopt},
      {"A cache is complete only after a whole pass: with take() behind it, or a consumer that stops "
       "early, it is filled again and again.",
       std::nullopt}};
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_pipeline(context, check_pipeline);
}

}  // namespace

Rule cache_fill() {
  return {.id = "cache-fill",
          .summary = "A cache is filled in the window: the first epoch is slower than the next",
          .thresholds = {},
          .check = check};
}

}  // namespace doctor::rules
