#include <fmt/format.h>

#include "diagnose/devices.h"
#include "text/numbers.h"

namespace doctor::rules::device_idle_for_input {
namespace {

std::vector<Advice> advice(const RankedPipeline& ranked) {
  std::vector<Advice> advice = {{"Prefetch: make elements while the device computes",
                                 "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation"}};
  if (ranked.pipeline.prefetch != kNoIterator) advice.clear();
  advice.push_back({ranked.has_culprit()
                        ? AdviceText("Begin with what the waits lead to", culprit_part(ranked) + ".")
                        : AdviceText("Begin with what the other findings say about the input pipeline"),
                    std::nullopt});
  return advice;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.root);
  if (!examiner.holds("the trace of this host shows a device", !ranked.host.devices.empty())) return std::nullopt;
  if (!ranked.pipeline.exposed) {
    examiner.misses("the trace does not show when the device computes");
    return std::nullopt;
  }
  if (ranked.judgement.level == InputLevel::unknown) {
    examiner.misses(kTooLittleEvidence);
    return std::nullopt;
  }
  const double share = ranked.judgement.input_share;
  if (!examiner.at_least(share_of("device_idle_share", share), "min_mild_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share_of("device_idle_share", share), "min_share");
  Finding finding;
  finding.severity = is_high ? Severity::warning : Severity::note;
  if (ranked.pipeline.root != kNoIterator) finding.subject = ranked[ranked.pipeline.root].long_name;
  finding.message = fmt::format("{} of the time the device computes nothing because the consumer waits in GetNext",
                                format_share(share));
  finding.evidence = {share_of("device_idle_share", share), share_of("get_next_share", ranked.pipeline.cadence.share),
                      time_of("device_idle", ranked.pipeline.exposed->time),
                      time_of("waited", ranked.pipeline.steady.waited)};
  finding.advice = advice(ranked);
  finding.at_stake = ranked.pipeline.exposed->time;
  return finding;
}

RuleResult check(const RuleContext& context) {
  if (shows_devices(context.measurements)) return for_each_pipeline(context, check_pipeline);
  return without_devices(context);
}

}  // namespace

Rule rule() {
  return {
      .id = "device-idle-for-input",
      .summary = "The device computes nothing while the consumer waits for data",
      .follows = {references::kFastEnough, references::kBestPractices},
      .thresholds = {{"min_share", 0.20, "share",
                      "minimum share of the time in which the consumer is in GetNext and no device computes that makes "
                      "it a warning; at this share XProf calls a job highly input-bound"},
                     {"min_mild_share", 0.05, "share",
                      "minimum share that is worth a note; at this share XProf calls a job moderately input-bound"}},
      .check = check};
}

}  // namespace doctor::rules::device_idle_for_input
