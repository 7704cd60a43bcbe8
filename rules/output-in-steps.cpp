#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "diagnose/recurring_work.h"
#include "text/numbers.h"

namespace doctor::rules::output_in_steps {
namespace {

std::vector<Advice> advice() {
  return {{"Write summaries every hundred steps, not in each",
           "tf.keras.callbacks.TensorBoard(logdir, update_freq=100, histogram_freq=0)  # or, in a loop of your own:\n"
           "with tf.summary.record_if(step % 100 == 0):"},
          {"Write checkpoints while the training goes on, and less often",
           "checkpoint.save(path, options=tf.train.CheckpointOptions(enable_async=True))"}};
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const bool is_written = host.profile && !host.profile->host.output.empty();
  if (!examiner.holds("ops write summaries or checkpoints in the window", is_written)) return std::nullopt;
  const std::string question = "steps_with_output";
  const std::optional<RecurringWork> work = ask_for_recurring_work(host, host.profile->host.output, question, examiner);
  if (!work) return std::nullopt;
  Finding finding;
  finding.severity = work->severity;
  finding.message =
      fmt::format("summaries or checkpoints are written in {}, which takes {} of the steps' time ({})",
                  format_count(work->steps, "step"), format_share(work->share.value), format_time(work->time));
  finding.evidence = {work->share, number_of(question, work->steps), time_of("output", work->time)};
  finding.advice = advice();
  finding.at_stake = work->time;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "output-in-steps",
          .summary = "Summaries or checkpoints are written in the steps, and take their time",
          .follows = {references::kBestPractices},
          .thresholds = {{"min_steps", 2, "steps",
                          "minimum steps in which something is written: a window may hold the one checkpoint of the "
                          "hour. Chosen"},
                         {"min_share", 0.05, "share",
                          "minimum share of the steps' time, as XProf calls 5% of input moderate"},
                         {"min_high_share", 0.20, "share",
                          "minimum share that makes it a warning, as for waiting for input"}},
          .check = each_host<check_host>};
}

}  // namespace doctor::rules::output_in_steps
