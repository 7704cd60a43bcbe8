#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/interleaving.h"

namespace doctor::rules::sequential_map {
namespace {

std::vector<Advice> advice_for(const RankedPipeline& ranked, double utilization_for_caution) {
  // Under Python's lock parallel calls can halve the speed (measured: x0.46 for a tokenizer), so no code to paste.
  const bool may_hold_lock = is_mostly_python(ranked) && ranked.host.cycles.python_lock != PythonLock::released;
  std::vector<Advice> advice =
      may_hold_lock ? std::vector<Advice>{{{"Run map in parallel, if its Python function sleeps or waits",
                                            "With num_parallel_calls=tf.data.AUTOTUNE. It helps where the function "
                                            "waits for files or the network, or leaves Python (NumPy, image "
                                            "libraries). Where it computes in Python, it makes it slower."},
                                           std::nullopt}}
                    : std::vector<Advice>{{"Run " + describe(ranked.host, ranked.judgement.culprit) + " in parallel",
                                           "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
                                           {{FixKind::parallel_map, ranked.judgement.culprit, {}, {}}}}};
  const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase());
  if (utilization && *utilization >= utilization_for_caution) {
    const double of_input =
        *utilization * static_cast<double>(*ranked.pipeline.cpu_budget) - ranked.pipeline.cores_of_others;
    const bool by_others = ranked.pipeline.cores_of_others > of_input;
    advice.push_back({{"Expect a small gain",
                       fmt::format("{} are already busy during the waits: {}.", busy_cores(ranked),
                                   by_others ? "other programs use most of them" : "the function's ops use several")},
                      std::nullopt});
  }
  if (ranked.phase().python > 0 && !is_mostly_python(ranked)) {
    advice.push_back(
        {{"Take care: the function runs Python",
          "Only one thread at a time can do that: parallel calls help while it waits or is outside of Python."},
         std::nullopt});
  }
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorMeasurement& culprit = ranked.culprit();
  if (!examiner.holds(culprit_is(ranked, "a map that runs one call at a time"), culprit.is_sequential_map()) ||
      !examiner.holds("it makes more than one element of each dataset that it is in",
                      !makes_one_element_a_dataset(ranked.host, ranked.judgement.culprit)) ||
      !holds_job_up(ranked, examiner)) {
    return std::nullopt;
  }
  const bool has_parallelism = culprit.number("parallelism").has_value();
  Finding finding = culprit_finding(ranked, fmt::format("{}, which runs one call at a time{}", culprit_part(ranked),
                                                        has_parallelism ? " (parallelism 1)" : ""));
  finding.evidence.push_back(number_of("calls", culprit.calls, "calls"));
  if (const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase())) {
    finding.evidence.push_back(share_of("cpu_utilization", *utilization));
  }
  finding.advice = advice_for(ranked, examiner["min_utilization_for_caution"]);
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "sequential-map",
          .summary = "A map that the job waits for runs one call at a time",
          .follows = {references::kTransformationDatasets, references::kParallelTransformation},
          .thresholds = {{"min_culprit_share", 0.20, "share",
                          "minimum share of the time waited that the map holds. Below a fifth the change could not "
                          "gain more than the verdict's own limit"},
                         {"min_utilization_for_caution", 0.80, "share",
                          "minimum share of the CPU budget in use for the advice to warn that little may be gained: a "
                          "map whose ops run on several threads measured 1.7 to 1.9 of 2 cores"}},
          .check = each_culprit<Waits::slow, check_culprit>};
}

}  // namespace doctor::rules::sequential_map
