#include <fmt/format.h>

#include "diagnose/caching.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"

namespace doctor::rules::unfinished_cache {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const CacheFill* const fill = largest_cache_fill(ranked.pipeline);
  if (!examiner.holds("a cache is being filled", fill != nullptr)) return std::nullopt;
  examiner.is_about(fill->iterator);
  const IteratorId take = take_after_cache(ranked.host, fill->iterator);
  if (!examiner.holds("a take() after the cache ends each epoch", take != kNoIterator)) return std::nullopt;
  Finding finding;
  finding.severity = ranked.is_slow() ? Severity::warning : Severity::note;
  finding.subject = ranked[fill->iterator].long_name;
  finding.message = fmt::format(
      "{} is never complete, so it is filled again in every epoch and never read: {} ends each epoch before it",
      describe(ranked.host, fill->iterator), describe(ranked.host, take));
  finding.evidence = {number_of("input_calls", fill->input_calls, "calls"), number_of("calls", fill->calls, "calls")};
  finding.advice = {{{"Take the elements before the cache", "It is complete when its input ends."},
                     "dataset = dataset.take(count).cache().repeat()"}};
  finding.at_stake = ranked.phase().waited;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "unfinished-cache",
          .summary = "A cache is filled in every epoch and never read, because take() ends the epochs",
          .follows = {references::kCacheApi, references::kCaching},
          .thresholds = {},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::unfinished_cache
