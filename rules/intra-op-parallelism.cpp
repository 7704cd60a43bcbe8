#include <fmt/format.h>

#include "diagnose/tuning.h"
#include "text/numbers.h"

namespace doctor::rules {
namespace {

std::optional<Finding> check_culprit(const RankedPipeline& ranked, double utilization, Examiner& examiner) {
  if (!examiner.at_least(share_of("cpu_utilization", utilization), "min_utilization")) return std::nullopt;
  if (!examiner.holds("the options let an op of the culprit's function split its work over threads",
                      !keeps_ops_on_one_thread(ranked))) {
    return std::nullopt;
  }
  const PhaseMeasurement& phase = ranked.phase();
  if (phase.pool_threads <= 0) {
    examiner.misses("the trace shows no work of the compute pool that ops split their work over");
    return std::nullopt;
  }
  const double share = phase.pool_threads / phase.busy_threads;
  if (!examiner.at_least(share_of("pool_share", share), "min_pool_share")) return std::nullopt;
  Finding finding = culprit_finding(
      ranked, fmt::format("{}, and {} are busy; {} of that work is parts of ops that were split over threads, on top "
                          "of the calls that run in parallel",
                          culprit_part(ranked), busy_cores(ranked), format_share(share)));
  finding.evidence.push_back(share_of("cpu_utilization", utilization));
  finding.evidence.push_back(share_of("pool_share", share));
  finding.advice = {
      {"Several calls at once fill the cores already: keep each op on one thread, and save the splitting "
       "(before TF 2.5: options.experimental_threading).",
       "options = tf.data.Options()\n"
       "options.threading.max_intra_op_parallelism = 1\n"
       "dataset = dataset.with_options(options)"}};
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_parallel_culprit(context, check_culprit);
}

}  // namespace

Rule intra_op_parallelism() {
  return {.id = "intra-op-parallelism",
          .summary = "Parallel calls fill the cores, and their ops split their work over threads on top",
          .thresholds = {{"min_utilization", 0.80, "share",
                          "busy threads during the waits, as a part of the CPU budget, from which cores count as used "
                          "up; the limit of cpu-saturated"},
                         {"min_pool_share", 0.20, "share",
                          "part of the busy threads' time that is parts of other threads' ops. Recordings of TF 2.21 "
                          "on two cores with max_intra_op_parallelism 2 measured 0.24 to 0.37, with 1 they measured "
                          "0.00"}},
          .check = check,
          .judges_load = true};
}

}  // namespace doctor::rules
