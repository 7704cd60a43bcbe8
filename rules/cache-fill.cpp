#include "diagnose/caching.h"
#include "words/doubt_words.h"

namespace doctor::rules::cache_fill {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const CacheFill* const fill = largest_cache_fill(ranked.pipeline);
  if (!examiner.holds("at least every second call of a cache reads its input", fill != nullptr)) {
    return std::nullopt;
  }
  examiner.is_about(fill->iterator);
  const bool can_be_complete = take_after_cache(ranked.host, fill->iterator) == kNoIterator;
  if (!examiner.holds("no take() after it ends the epochs before it is complete", can_be_complete)) return std::nullopt;
  Finding finding;
  finding.severity = Severity::note;
  finding.subject = ranked[fill->iterator].long_name;
  finding.message = describe_filling_cache(ranked.host, *fill);
  finding.evidence = {number_of("input_calls", fill->input_calls, "calls"), number_of("calls", fill->calls, "calls")};
  finding.advice = {
      {{"Record a later epoch before you change anything",
        "What comes before the cache is slow in the first epoch only: the other findings may be gone then."},
       "tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(steps_per_epoch + 11, steps_per_epoch + 20))"},
      {{"Let each epoch end by itself",
        "A cache is complete only after a whole pass: with a consumer that stops early it is filled again and again."},
       std::nullopt}};
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "cache-fill",
          .summary = "A cache is being filled in the window: the first epoch is slower than the next",
          .follows = {references::kCaching, references::kCacheApi},
          .thresholds = {},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::cache_fill
