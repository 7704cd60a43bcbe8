#include <fmt/format.h>

#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "diagnose/recording.h"

namespace doctor::rules::no_input_pipeline {
namespace {

std::vector<Advice> advice(const Measurements& measurements) {
  return {{{"If the job reads with tf.data, record about thirty steps of training",
            "Not only while it starts or evaluates, and on the host that reads the data."},
           recording_code(measurements, kStepsToRecord)},
          {{"If something else feeds it, use the profiler of that",
            "This tool sees no NumPy arrays, feed_dict or other loaders."},
           std::nullopt}};
}

std::optional<Finding> check_trace(const RuleContext& context, Examiner& examiner) {
  const Measurements& measurements = context.measurements;
  if (!examiner.holds("the trace shows no iterator and no GetNext call", !measurements.shows_tf_data())) {
    return std::nullopt;
  }
  if (context.judgement.status != VerdictStatus::no_input_pipeline) {
    examiner.misses(why_nothing_is_judged(measurements));
    return std::nullopt;
  }
  Finding finding;
  const std::string framework = foreign_framework(measurements);
  finding.message =
      fmt::format("The trace{} shows no {}", framework.empty() ? "" : ", which is " + framework + "'s,",
                  is_of_torch(measurements) ? "loop over a DataLoader" : "tf.data iterator and no GetNext call");
  for (const HostMeasurement& host : measurements.hosts)
    finding.evidence.push_back(number_of("events", host.event_count, "events"));
  const std::string queue = describe_queue_alone(measurements);
  if (!queue.empty()) finding.message += "; " + queue;
  finding.advice = !queue.empty()      ? std::vector{record_with_package()}
                   : framework.empty() ? advice(measurements)
                                       : advice_for_framework(framework);
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_trace(context, [&](Examiner& examiner) { return check_trace(context, examiner); });
}

}  // namespace

Rule rule() {
  return {.id = "no-input-pipeline",
          .summary = "The trace has events, but none of tf.data",
          .follows = {references::kCollecting},
          .thresholds = {},
          .check = check};
}

}  // namespace doctor::rules::no_input_pipeline
