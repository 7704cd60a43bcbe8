#include <fmt/format.h>

#include "diagnose/tuning.h"
#include "text/numbers.h"

namespace doctor::rules::intra_op_parallelism {
namespace {

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<Evidence> used_up = used_up_cores(ranked, examiner);
  if (!used_up) return std::nullopt;
  if (!examiner.holds("the options let ops of the culprit's function split their work over threads",
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
  Finding finding =
      culprit_finding(ranked, fmt::format("{}, and {} are busy; {} of that work is pieces of ops that were split over "
                                          "threads, although whole calls run in parallel already",
                                          culprit_part(ranked), busy_cores(ranked), format_share(share)));
  finding.evidence.push_back(*used_up);
  finding.evidence.push_back(share_of("pool_share", share));
  finding.advice = {{{"Keep each op on one thread",
                      "Parallel calls fill the cores already: it saves the cost of splitting the op (before TF 2.5: "
                      "options.experimental_threading)."},
                     "options = tf.data.Options()\n"
                     "options.threading.max_intra_op_parallelism = 1\n"
                     "dataset = dataset.with_options(options)"}};
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "intra-op-parallelism",
          .summary = "Parallel calls fill the cores, and their ops split their work over threads as well",
          .follows = {references::kCpuUtilization, references::kThreadingOptions},
          .thresholds =
              {{"min_utilization", 0.80, "share",
                "cores count as used up when at least this share of the CPU budget is in use during the waits; as in "
                "cpu-saturated"},
               {"min_pool_share", 0.20, "share",
                "minimum share of the busy threads' time that goes into pieces of other threads' ops. Recordings of TF "
                "2.21 on two cores measured 0.24 to 0.37 with max_intra_op_parallelism 2, and 0.00 with 1"}},
          .check = each_parallel_culprit<check_culprit>,
          .judges_load = true};
}

}  // namespace doctor::rules::intra_op_parallelism
