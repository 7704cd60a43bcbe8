#include "diagnose/pipelines.h"
#include "words/verdict_words.h"

namespace doctor::rules::changing_pace {
namespace {

std::vector<Advice> advice_for(const PaceChange& change) {
  if (!change.is_slower()) {
    return {{{"Record a window that begins later, and judge that one",
              "The job is not like its first part from then on: a cache or a buffer had been filled, or the files were "
              "in memory."},
             std::nullopt}};
  }
  return {{{"Look for what changed then",
            "Prefetched elements ran out, a file or shard with larger elements began, another process took the cores, "
            "the disk or the network. `show calls` shows which iterator held the calls."},
           std::nullopt},
          {{"Judge the pace after that", "If the first calls only emptied a buffer, it is the job's usual one."},
           std::nullopt}};
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.pace_change ? ranked.pipeline.pace_change->culprit : ranked.pipeline.root);
  if (!examiner.holds("the latencies of the calls change from one call on, beyond chance",
                      ranked.pipeline.pace_change.has_value())) {
    return std::nullopt;
  }
  const PaceChange& change = *ranked.pipeline.pace_change;
  // A job whose steps change too may wait shorter and yet a larger part of the time: then nothing can be said.
  const double rise = change.share_after - change.share_before;
  const double difference = change.is_slower() ? rise : -rise;
  if (!examiner.at_least(share_of("share_difference", difference), "min_difference")) return std::nullopt;
  Finding finding;
  const bool costs = change.is_slower() && change.share_after >= examiner["min_share_after"];
  finding.severity = costs ? Severity::warning : Severity::note;
  if (change.culprit != kNoIterator) finding.subject = ranked[change.culprit].long_name;
  finding.message = describe_pace_change(ranked.host, ranked.pipeline);
  finding.evidence = {number_of("from_call", change.from + 1), time_of("median_before", change.before),
                      time_of("median_after", change.after), share_of("share_before", change.share_before),
                      share_of("share_after", change.share_after)};
  finding.advice = advice_for(change);
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "changing-pace",
          .summary = "From one call on, GetNext takes longer or shorter than before",
          .follows = {references::kFastEnough},
          .thresholds = {{"min_difference", 0.05, "share",
                          "minimum change of the share of the time spent in GetNext; at this share XProf calls a job "
                          "moderately input-bound"},
                         {"min_share_after", 0.20, "share",
                          "minimum share of the time spent in GetNext after a change for the worse that makes it a "
                          "warning, not a note: what makes a job input-bound"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::changing_pace
