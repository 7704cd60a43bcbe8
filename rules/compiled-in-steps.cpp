#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "diagnose/recurring_work.h"
#include "text/numbers.h"

namespace doctor::rules::compiled_in_steps {
namespace {

std::vector<Advice> advice() {
  return {{{"Give XLA batches of one shape", "It compiles for each shape of the arguments."},
           "dataset = dataset.batch(batch_size, drop_remainder=True)  # or padded_batch() with fixed padded_shapes"},
          {{"Pad batches to a few shapes", "Or leave these ops out of the compiled function."},
           "dataset = dataset.bucket_by_sequence_length(length, boundaries, batch_sizes, pad_to_bucket_boundary=True)"},
          {{"Run each shape once before the training", "Later steps find it compiled then."}, std::nullopt}};
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const bool is_compiled = host.profile && !host.profile->host.xla.empty();
  if (!examiner.holds("XLA compiles in the window", is_compiled)) return std::nullopt;
  const std::string question = "steps_with_compilation";
  const std::optional<RecurringWork> work = ask_for_recurring_work(host, host.profile->host.xla, question, examiner);
  if (!work) return std::nullopt;
  Finding finding;
  finding.severity = work->severity;
  finding.message = fmt::format("XLA compiles during {}: {} of the steps' time", format_count(work->steps, "step"),
                                format_share(work->share.value));
  finding.evidence = {work->share, number_of(question, work->steps), time_of("compilation", work->time)};
  finding.advice = advice();
  finding.at_stake = work->time;
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "compiled-in-steps",
      .summary = "XLA compiles again and again while the job goes through its steps",
      .follows = {references::kXla},
      .thresholds = {{"min_steps", 2, "steps",
                      "minimum steps with a compilation: the first step compiles, and so does a last, smaller batch. "
                      "Chosen"},
                     {"min_share", 0.02, "share", "minimum share of the steps' time that it takes. Chosen"},
                     {"min_high_share", 0.20, "share",
                      "minimum share that makes it a warning, as for waiting for input"}},
      .check = each_host<check_host>};
}

}  // namespace doctor::rules::compiled_in_steps
