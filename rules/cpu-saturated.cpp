#include <fmt/format.h>

#include "diagnose/caching.h"
#include "diagnose/pipelines.h"
#include "diagnose/tuning.h"

namespace doctor::rules::cpu_saturated {
namespace {

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  std::vector<Advice> advice;
  if (!keeps_ops_on_one_thread(ranked)) {
    advice.push_back({{"Keep each op on one thread",
                       "Splitting the work of an op over threads costs when all cores are busy anyway (before TF 2.5: "
                       "options.experimental_threading)."},
                      "options = tf.data.Options()\n"
                      "options.threading.max_intra_op_parallelism = 1\n"
                      "dataset = dataset.with_options(options)"});
  }
  advice.push_back({{"Do less work per step, or prepare the data before training",
                     "More parallelism gains nothing here: all cores are busy."},
                    std::nullopt});
  // Where the epochs are repeated, uncached-repeat gives this advice.
  if (uncached_repeat_above(ranked) == kNoIterator) {
    if (std::optional<Advice> cache = advice_to_cache(ranked)) advice.push_back(std::move(*cache));
  }
  advice.push_back({{"Move work off this host",
                     "To the accelerator (image augmentation in the model), or to other hosts with tf.data service."},
                    std::nullopt});
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<Evidence> used_up = used_up_cores(ranked, examiner);
  if (!used_up) return std::nullopt;
  Finding finding =
      culprit_finding(ranked, fmt::format("{}, and {} are busy meanwhile", culprit_part(ranked), busy_cores(ranked)));
  finding.evidence.push_back(*used_up);
  finding.advice = advice_for(ranked);
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "cpu-saturated",
      .summary = "A parallel transformation uses all cores and is still too slow",
      .follows = {references::kCpuUtilization},
      .thresholds = {shared_threshold(
          "min_utilization", "cores_used_up",
          "cores count as used up when at least this share of the CPU budget is in use during the waits. Labelled "
          "traces of TF 2.4 to 2.21 measured 0.95 to 1.00 where cores were the limit and 0.00 where they were idle")},
      .check = each_parallel_culprit<check_culprit>,
      .judges_load = true};
}

}  // namespace doctor::rules::cpu_saturated
