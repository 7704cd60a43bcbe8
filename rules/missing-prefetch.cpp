#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::missing_prefetch {
namespace {

Finding finding_for(const RankedPipeline& ranked, IteratorId subject) {
  Finding finding;
  finding.subject = ranked[subject].long_name;
  finding.evidence = {share_of("input_share", ranked.judgement.input_share),
                      time_of("waited", ranked.pipeline.steady.waited)};
  finding.at_stake = ranked.pipeline.steady.waited;
  return finding;
}

Finding missing(const RankedPipeline& ranked, double max_hidden_share, double max_cores_used) {
  const IteratorId last = ranked.pipeline.outermost != kNoIterator ? ranked.pipeline.outermost : ranked.pipeline.root;
  Finding finding = finding_for(ranked, last);
  finding.message = fmt::format(
      "No prefetch at the end of the pipeline: {} runs inside GetNext, while the consumer waits ({} of the time)",
      describe(ranked.host, last), format_share(ranked.judgement.input_share));
  // Where all cores are in use already, what runs at the same time takes longer.
  const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase());
  const bool has_idle_cores = !utilization || *utilization <= max_cores_used;
  finding.is_easy = ranked.pipeline.cadence.share <= max_hidden_share && has_idle_cores;
  finding.advice = {
      {{"Prefetch at the end", "The next elements are then made while the model computes."},
       "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation",
       {{FixKind::prefetch, kNoIterator, {}, {}}}},
      {{"Make the slow transformation faster, too", "A prefetch hides at most as much input time as a step takes."},
       std::nullopt}};
  return finding;
}

Finding injected(const RankedPipeline& ranked, const IteratorMeasurement& prefetch) {
  Finding finding = finding_for(ranked, ranked.pipeline.prefetch);
  finding.severity = Severity::note;
  finding.message = "The prefetch at the end is not in your code: TF inserted it, so it counts as present";
  if (const std::optional<std::int64_t> limit = prefetch.number("buffer_limit"); limit && *limit >= 0) {
    finding.evidence.push_back(number_of("buffer_limit", static_cast<std::uint64_t>(*limit), "elements"));
  }
  finding.advice = {
      {{"Write the prefetch yourself", "It then does not depend on the version of TF and its optimisations."},
       "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation"}};
  return finding;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  if (!is_waited_for(ranked, Waits::slow, examiner)) return std::nullopt;
  if (ranked.pipeline.root == kNoIterator) {
    examiner.misses("the trace shows GetNext calls, but no tf.data iterator inside them");
    return std::nullopt;
  }
  examiner.is_about(ranked.pipeline.outermost);
  if (!examiner.holds("the pipeline is a dataset in the code, not what Keras makes of a PyDataset or Sequence",
                      !is_made_by_keras(ranked.host, ranked.pipeline.root))) {
    return std::nullopt;
  }
  const bool has_none = ranked.pipeline.prefetch == kNoIterator;
  if (examiner.holds("the pipeline does not end with a prefetch", has_none))
    return missing(ranked, examiner["max_hidden_share"], examiner["max_cores_used"]);
  const IteratorMeasurement& prefetch = ranked[ranked.pipeline.prefetch];
  if (!examiner.holds("TF inserted the prefetch at the end", prefetch.is_injected())) return std::nullopt;
  return injected(ranked, prefetch);
}

}  // namespace

Rule rule() {
  return {.id = "missing-prefetch",
          .summary = "No prefetch at the end: input and compute take turns instead of overlapping",
          .follows = {references::kArePrefetching, references::kPrefetching},
          .thresholds = {{"max_hidden_share", 0.50, "share",
                          "a prefetch alone can hide up to this share of the time in GetNext, so that the finding "
                          "comes first: as long as there is as much computing as waiting"},
                         {"max_cores_used", 0.55, "share",
                          "the same only up to this share of the CPU budget in use during the waits; as in "
                          "low-parallelism. On a full machine, what runs at the same time takes longer"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::missing_prefetch
