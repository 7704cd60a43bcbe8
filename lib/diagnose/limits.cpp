#include "diagnose/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "diagnose/cores.h"
#include "diagnose/dataset_words.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

bool waits_for_files(std::string_view op) {
  static constexpr std::array<std::string_view, 5> kOps = {"ReadFile", "MatchingFiles", "WriteFile", "RestoreV2",
                                                           "ReaderReadV2"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end() || op.starts_with("IO>");
}

/// The share of the culprit's op time that is in ops which `is_wanted` picks.
template <typename Predicate>
double share_of_ops(const PhaseMeasurement& phase, Predicate is_wanted) {
  Picoseconds all = 0;
  Picoseconds wanted = 0;
  for (const FunctionOp& op : phase.function_ops) {
    all += op.self;
    if (is_wanted(op.op)) wanted += op.self;
  }
  return all > 0 ? static_cast<double>(wanted) / static_cast<double>(all) : 0;
}

/// Cores are idle: because the culprit may not do more at once, or because it waits itself.
JudgedLimit limit_with_idle_cores(const IteratorMeasurement& culprit) {
  if (dataset_kind(culprit).source == Source::service || kind_of(culprit) == "Snapshot") {
    return {Limit::waiting, "its elements come from elsewhere, and cores are idle"};
  }
  if (culprit.is_source) {
    return {Limit::unknown, "cores are idle, but a trace does not distinguish waiting for storage from unpacking"};
  }
  if (!has_trait(culprit, Trait::parallel) || is_sequential_map(culprit)) {
    return {Limit::concurrency, "it works on one element at a time while cores are idle"};
  }
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  return {Limit::concurrency, parallelism
                                  ? fmt::format("it works on {} elements at once while cores are idle", *parallelism)
                                  : "it may not work on more elements at once, while cores are idle"};
}

JudgedLimit limit_of_indirect_culprit(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase,
                                      const ThresholdValues& thresholds) {
  if (cpu_utilization(pipeline, phase).value_or(0) >= thresholds["cores_used_up"]) {
    return {Limit::cpu, "the cores are the limit, parallelism may gain little"};
  }
  return {Limit::concurrency, "it works on one element at a time, and its thread never rests"};
}

}  // namespace

JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement, const ThresholdValues& thresholds) {
  if (judgement.culprit == kNoIterator || judgement.phase == Phase::background) return {};
  const PhaseMeasurement& phase = judged_phase(pipeline, judgement);
  // The ops that were measured are those of the iterator that the waits end at.
  if (!judgement.culprit_reason.empty()) return limit_of_indirect_culprit(pipeline, phase, thresholds);
  const Picoseconds ops = std::accumulate(phase.function_ops.begin(), phase.function_ops.end(), Picoseconds{0},
                                          [](Picoseconds sum, const FunctionOp& op) { return sum + op.self; });
  const double python = ops > 0 ? static_cast<double>(phase.python) / static_cast<double>(ops) : 0;
  if (python > thresholds["max_python_share"]) {
    return {Limit::unknown,
            fmt::format("Python takes {} of the function: a trace does not distinguish computing in it, "
                        "waiting for its lock, sleeping and waiting for I/O",
                        format_share(python))};
  }
  const double files = share_of_ops(phase, waits_for_files);
  if (files >= thresholds["min_file_share"]) {
    return {Limit::waiting, fmt::format("ops that read or write files take {} of the function", format_share(files))};
  }
  const std::optional<double> utilization = cpu_utilization(pipeline, phase);
  if (!utilization && phase.busy_threads > thresholds["cores_idle"])
    return {Limit::unknown, why_cores_are_unknown(host)};
  if (utilization && *utilization >= thresholds["cores_used_up"])
    return {Limit::cpu, "the cores are the limit, parallelism may gain little"};
  if (const IteratorId copies = unseen_copies_after(host, judgement.culprit); copies != kNoIterator) {
    return {Limit::unknown,
            fmt::format("{} copies on threads that leave no events, so cores that look idle may be busy",
                        describe(host, copies))};
  }
  // Not even one core is in use, however many there are.
  if (!utilization || *utilization <= thresholds["cores_idle"])
    return limit_with_idle_cores(host.iterators[index_of(judgement.culprit)]);
  return {Limit::unknown, "the cores are neither idle nor used up"};
}

}  // namespace doctor
