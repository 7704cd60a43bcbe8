#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "diagnose/recording.h"
#include "text/numbers.h"
#include "words/doubt_words.h"

namespace doctor::rules::truncated_window {
namespace {

Advice record_longer(const RuleContext& context) {
  const Measurements& measurements = context.measurements;
  std::size_t steps = steps_to_record(measurements);
  for (const PipelineJudgement& pipeline : context.judgement.pipelines) {
    if (std::holds_alternative<OtherSteps>(pipeline.doubt)) {
      const Remedy remedy = remedy_of(pipeline.doubt, measurements);
      return {{remedy.sentence, {}}, remedy.command};
    }
    if (const auto* const stored = std::get_if<StoredElements>(&pipeline.doubt)) {
      steps = std::max<std::size_t>(steps, stored->steps_to_record);
    }
  }
  return {{fmt::format("Record {} steps or more", steps), "And several times the slowest one."},
          recording_command(measurements, first_step_to_record(measurements),
                            first_step_to_record(measurements) + steps - 1)};
}

/// The window ends before the consumer took two elements: there is no verdict.
std::optional<Finding> find_missing_calls(const RuleContext& context, Examiner& examiner) {
  const std::vector<HostMeasurement>& hosts = context.measurements.hosts;
  const bool is_inconclusive = context.judgement.status == VerdictStatus::inconclusive;
  if (!examiner.holds("tf.data is at work, but the window shows too little of it for a verdict",
                      is_inconclusive && context.measurements.shows_tf_data())) {
    return std::nullopt;
  }
  // A longer window would not bring back what is missing from a torn file.
  const bool is_whole = !torn_file(context.measurements);
  if (!examiner.holds("no part of the file is missing", is_whole)) return std::nullopt;
  Finding finding;
  finding.message = context.judgement.pipelines.empty()
                        ? "The window shows tf.data at work, but no GetNext call of the consumer: nothing can be judged"
                        : "The window shows too little for a verdict: " +
                              describe_doubt(context.judgement.pipelines.front().doubt, context.measurements);
  for (const HostMeasurement& host : hosts) {
    finding.evidence.push_back(number_of("iterator_events", host.iterator_event_count, "events"));
    finding.evidence.push_back(time_of("window", host.window));
  }
  finding.advice = {record_longer(context)};
  return finding;
}

std::optional<Finding> find_unseen_waits(const RuleContext& context, const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.root);
  const PhaseMeasurement& phase = ranked.pipeline.steady;
  if (!is_waited_for(ranked, Waits::bound, examiner) || phase.waited <= 0) return std::nullopt;
  const double unseen = static_cast<double>(phase.unseen) / static_cast<double>(phase.waited);
  if (!examiner.above(share_of("unseen_share", unseen), "max_unseen_share")) return std::nullopt;
  Finding finding;
  if (ranked.pipeline.root != kNoIterator) finding.subject = ranked[ranked.pipeline.root].long_name;
  finding.message = fmt::format("{} of the time waited is hidden by events that the window cuts off ({} of {})",
                                format_share(unseen), format_time(phase.unseen), format_time(phase.waited));
  finding.evidence = {share_of("unseen_share", unseen), time_of("unseen", phase.unseen),
                      time_of("waited", phase.waited)};
  finding.advice = {
      record_longer(context),
      {{"Until then, do not rely on the culprit", "It is the slowest of what can be seen."}, std::nullopt}};
  finding.at_stake = phase.unseen;
  return finding;
}

RuleResult check(const RuleContext& context) {
  RuleResult missing_calls =
      for_trace(context, [&](Examiner& examiner) { return find_missing_calls(context, examiner); });
  return missing_calls.findings.empty() ? for_each_pipeline(context,
                                                            [&](const RankedPipeline& ranked, Examiner& examiner) {
                                                              return find_unseen_waits(context, ranked, examiner);
                                                            })
                                        : missing_calls;
}

}  // namespace

Rule rule() {
  return {.id = "truncated-window",
          .summary = "The recorded window is too short to show what the job waits for",
          .follows = {references::kCollecting},
          .thresholds = {{"max_unseen_share", 0.30, "share",
                          "maximum share of the time waited that may be hidden by events cut off by the window. With "
                          "more, what is hidden could outweigh the culprit"}},
          .check = check};
}

}  // namespace doctor::rules::truncated_window
