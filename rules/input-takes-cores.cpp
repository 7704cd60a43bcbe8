#include <fmt/format.h>

#include "diagnose/cores.h"
#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::input_takes_cores {
namespace {

Finding finding_for(const RankedPipeline& ranked, std::string message) {
  const InputLoad& load = *ranked.pipeline.input_load;
  Finding finding;
  finding.severity = Severity::note;
  if (ranked.pipeline.root != kNoIterator) finding.subject = ranked[ranked.pipeline.root].long_name;
  finding.message = std::move(message);
  finding.evidence = {share_of("input_share", ranked.pipeline.input_share()),
                      {"cores_of_input", load.cores(), "cores"},
                      {"busy_cores", load.busy_threads, "cores"},
                      share_of("python_share", load.python_share()),
                      time_of("measured_over", load.span.end - load.span.start)};
  const bool is_tf_data = ranked.pipeline.next_of.empty();
  finding.advice = {{{"Measure how long the steps take without it", "Train some of them on one batch that is kept."},
                     is_tf_data ? "dataset = dataset.take(1).cache().repeat()  # to measure, not to train"
                                : "batch = next(iterator)  # once, before the loop: to measure, not to train"},
                    {{"If they are much faster, do less work per step",
                      fmt::format("Cache what is the same in every epoch, prepare the data before training, or {}.",
                                  is_tf_data ? "do it on other cores (an accelerator, tf.data service)"
                                             : "let worker processes do it, each with a Python of its own")},
                     std::nullopt}};
  return finding;
}

/// Python runs one thread at a time: what the input computes in it stops a training loop in Python.
std::optional<Finding> check_python(const RankedPipeline& ranked, Examiner& examiner) {
  const double share = ranked.pipeline.input_load->python_share();
  if (!examiner.above(share_of("python_share", share), "min_python_share")) return std::nullopt;
  return finding_for(
      ranked,
      fmt::format("The job is not input-bound, but its input runs Python for {} of the time: while that computes{} it "
                  "holds Python's lock, which the training loop needs too",
                  format_share(share),
                  ranked.pipeline.next_of.empty() ? " (a trace cannot tell it from sleeping)" : ""));
}

std::optional<Finding> check_cores(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<CoresInUse> cores = cores_in_use(ranked.pipeline);
  if (!cores) {
    examiner.misses(why_cores_are_unknown(ranked.host));
    return std::nullopt;
  }
  if (!examiner.at_least(share_of("cpu_utilization", cores->all), "min_utilization") ||
      !examiner.at_least(share_of("cores_of_input", cores->of_input), "min_core_share")) {
    return std::nullopt;
  }
  return finding_for(
      ranked,
      fmt::format("The job is not input-bound, but its input takes cores from the training: it keeps {:.1f} of "
                  "{} cores busy while all of them are in use",
                  cores->of_input * static_cast<double>(*ranked.pipeline.cpu_budget), *ranked.pipeline.cpu_budget));
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.root);
  if (!examiner.holds("no device computes: the training runs on the cores of this host", ranked.host.devices.empty())) {
    return std::nullopt;
  }
  if (ranked.judgement.level == InputLevel::unknown) {
    examiner.misses(kTooLittleEvidence);
    return std::nullopt;
  }
  if (!examiner.holds("the job is not input-bound, or the verdict would say it", !ranked.is_bound()) ||
      !examiner.holds("of the pipelines of this host it is the one waited for most",
                      ranked.pipeline.input_load.has_value())) {
    return std::nullopt;
  }
  if (std::optional<Finding> finding = check_cores(ranked, examiner)) return finding;
  return check_python(ranked, examiner);
}

}  // namespace

Rule rule() {
  return {
      .id = "input-takes-cores",
      .summary = "Nobody waits for the input, but it takes cores or Python's lock from the training",
      .follows = {references::kCpuUtilization, references::kCaching},
      .thresholds = {shared_threshold("min_utilization", "cores_missing",
                                      "minimum share of the cores that is busy with anything at all: then what the "
                                      "input uses is missing elsewhere. The same limit as cpu-saturated"),
                     {"min_core_share", 0.10, "share",
                      "minimum share of the cores that the input keeps busy; chosen: less is not worth mentioning"},
                     shared_threshold(
                         "min_python_share", "much_python",
                         "the input's functions must run Python for more than this share of the time; chosen: half")},
      .check = each_pipeline<check_pipeline>,
      .judges_load = true};
}

}  // namespace doctor::rules::input_takes_cores
