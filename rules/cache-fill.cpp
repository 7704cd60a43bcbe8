#include <fmt/format.h>

#include "diagnose/caching.h"
#include "text/numbers.h"

namespace doctor::rules {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const CacheFill* const fill = largest_cache_fill(ranked.pipeline);
  if (!examiner.holds("the input of a cache is read, by at least every second call of it", fill != nullptr)) {
    return std::nullopt;
  }
  examiner.is_about(fill->iterator);
  Finding finding;
  finding.severity = Severity::note;
  finding.subject = ranked[fill->iterator].long_name;
  finding.message = describe_cache_fill(ranked.host, ranked.pipeline);
  finding.evidence = {number_of("input_calls", fill->input_calls, "calls"), number_of("calls", fill->calls, "calls")};
  finding.advice = {
      {"What stands before the cache is slow in the first epoch only. Record a later epoch before you change anything: "
       "then the other findings may be gone.",
       "tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(steps_per_epoch + 11, steps_per_epoch + 20))"},
      {"A cache is complete only after a whole pass: with take() after it, or a consumer that stops "
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
