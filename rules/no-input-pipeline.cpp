#include <algorithm>

#include "diagnose/pipelines.h"

namespace doctor::rules {
namespace {

std::vector<Advice> advice() {
  return {{"If the job reads with tf.data: record while it trains (not only while it starts or evaluates), on the host "
           "that reads the data, for about ten steps.",
           "tf.profiler.experimental.start(logdir)\n"
           "for step, batch in zip(range(10), dataset):\n"
           "  with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n"
           "    train_step(batch)\n"
           "tf.profiler.experimental.stop()"},
          {"If it is fed by something else (NumPy arrays, feed_dict, another loader), this tool cannot see it.",
           std::nullopt}};
}

RuleResult check(const RuleContext& context) {
  const std::vector<HostMeasurement>& hosts = context.measurements.hosts;
  const auto any = [&](auto holds) { return std::any_of(hosts.begin(), hosts.end(), holds); };
  if (shows_tf_data(context.measurements)) return {};
  const bool is_sure = any([](const HostMeasurement& host) { return host.event_count > 0; }) &&
                       !any([](const HostMeasurement& host) { return !host.loss.complete(); });
  if (!is_sure) return {.findings = {}, .not_evaluated = why_nothing_is_judged(context.measurements)};
  Finding finding;
  finding.message = "The trace shows no tf.data iterator and no GetNext call";
  for (const HostMeasurement& host : hosts) finding.evidence.push_back(number_of("events", host.event_count, "events"));
  finding.advice = advice();
  return {.findings = {finding}, .not_evaluated = {}};
}

}  // namespace

Rule no_input_pipeline() {
  return {.id = "no-input-pipeline",
          .summary = "The trace has events, but none of tf.data",
          .thresholds = {},
          .check = check};
}

}  // namespace doctor::rules
