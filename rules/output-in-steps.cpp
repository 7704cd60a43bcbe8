#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "measure/step_table.h"
#include "text/numbers.h"

namespace doctor::rules::output_in_steps {
namespace {

std::vector<Advice> advice() {
  return {{"Write summaries every hundred steps, not in each.",
           "tf.keras.callbacks.TensorBoard(logdir, update_freq=100, histogram_freq=0)  # or, in a loop of your own:\n"
           "with tf.summary.record_if(step % 100 == 0):"},
          {"Write checkpoints while the training goes on, and less often.",
           "checkpoint.save(path, options=tf.train.CheckpointOptions(enable_async=True))"}};
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const bool is_written = host.profile && !host.profile->host.output.empty();
  if (!examiner.holds("ops write summaries or checkpoints in the window", is_written)) return std::nullopt;
  if (host.steps.steps.empty()) {
    examiner.misses("the trace shows no steps");
    return std::nullopt;
  }
  const std::size_t steps = steps_with(host.profile->host.output, host.steps);
  if (!examiner.at_least(number_of("steps_with_output", steps), "min_steps")) return std::nullopt;
  const Picoseconds time = time_in_steps(host.profile->host.output, host.steps);
  const Evidence share = share_of("share_of_steps", share_of_steps(time, host.steps));
  if (!examiner.at_least(share, "min_share")) return std::nullopt;
  Finding finding;
  finding.severity = examiner.at_least(share, "min_high_share") ? Severity::warning : Severity::note;
  finding.message = fmt::format("summaries or checkpoints are written in {}, which takes {} of the steps' time ({})",
                                format_count(steps, "step"), format_share(share.value), format_time(time));
  finding.evidence = {share, number_of("steps_with_output", steps), time_of("output", time)};
  finding.advice = advice();
  finding.at_stake = time;
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_host(context, check_host);
}

}  // namespace

Rule rule() {
  return {.id = "output-in-steps",
          .summary = "Summaries or checkpoints are written in the steps, and take their time",
          .thresholds = {{"min_steps", 2, "steps",
                          "minimum steps in which something is written: a window may hold the one checkpoint of the "
                          "hour. Chosen"},
                         {"min_share", 0.05, "share",
                          "minimum share of the steps' time, as XProf calls 5 % of input moderate"},
                         {"min_high_share", 0.20, "share",
                          "minimum share that makes it a warning, as for waiting for input"}},
          .check = check};
}

}  // namespace doctor::rules::output_in_steps
