#include "diagnose/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "diagnose/dataset_words.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// So little Python in a function does not hide what limits the rest of it.
constexpr double kHardlyPython = 0.05;

/// From a half on, waiting for files is what the function mostly does.
constexpr double kMostlyFiles = 0.5;

bool waits_for_files(std::string_view op) {
  static constexpr std::array<std::string_view, 5> kOps = {"ReadFile", "MatchingFiles", "WriteFile", "RestoreV2",
                                                           "ReaderReadV2"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end() || op.starts_with("IO>");
}

/// The part of the culprit's op time that is in ops which `is_wanted` picks.
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
    return {Limit::unknown, "cores are idle, but waiting for storage and unpacking cannot be told apart in a trace"};
  }
  if (!has_trait(culprit, Trait::parallel) || is_sequential_map(culprit)) {
    return {Limit::concurrency, "it works on one element at a time while cores are idle"};
  }
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  return {Limit::concurrency, parallelism
                                  ? fmt::format("it works on {} elements at once while cores are idle", *parallelism)
                                  : "it may not work on more elements at once, while cores are idle"};
}

JudgedLimit limit_of_indirect_culprit(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase) {
  if (cpu_utilization(pipeline, phase).value_or(0) >= kCoresUsedUp) {
    return {Limit::cpu, "the cores are the limit, parallelism may gain little"};
  }
  return {Limit::concurrency, "it works on one element at a time, and its thread never rests"};
}

}  // namespace

std::optional<CoresInUse> cores_in_use(const PipelineMeasurement& pipeline) {
  if (!pipeline.input_load || !pipeline.cpu_budget || *pipeline.cpu_budget <= 0) return std::nullopt;
  const auto cores = static_cast<double>(*pipeline.cpu_budget);
  return CoresInUse{std::min(1.0, pipeline.input_load->busy_threads / cores),
                    std::min(1.0, pipeline.input_load->cores() / cores)};
}

JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement) {
  if (judgement.culprit == kNoIterator || judgement.phase == Phase::background) return {};
  const PhaseMeasurement& phase = judged_phase(pipeline, judgement);
  // The ops that were measured are those of the iterator that the waits end at.
  if (!judgement.culprit_reason.empty()) return limit_of_indirect_culprit(pipeline, phase);
  const Picoseconds ops = std::accumulate(phase.function_ops.begin(), phase.function_ops.end(), Picoseconds{0},
                                          [](Picoseconds sum, const FunctionOp& op) { return sum + op.self; });
  const double python = ops > 0 ? static_cast<double>(phase.python) / static_cast<double>(ops) : 0;
  if (python > kHardlyPython) {
    return {Limit::unknown, fmt::format("Python takes {} of the function: computing in it, its lock, sleeping and "
                                        "waiting for I/O cannot be told apart in a trace",
                                        format_share(python))};
  }
  const double files = share_of_ops(phase, waits_for_files);
  if (files >= kMostlyFiles) {
    return {Limit::waiting, fmt::format("ops that read or write files take {} of the function", format_share(files))};
  }
  const std::optional<double> utilization = cpu_utilization(pipeline, phase);
  if (!utilization) return {Limit::unknown, "the trace does not tell how many cores tf.data may use"};
  if (*utilization >= kCoresUsedUp) return {Limit::cpu, "the cores are the limit, parallelism may gain little"};
  if (const IteratorId copies = unseen_copies_after(host, judgement.culprit); copies != kNoIterator) {
    return {Limit::unknown,
            fmt::format("{} copies on threads that leave no events, so cores that look idle may be busy",
                        describe(host, copies))};
  }
  if (*utilization <= kCoresIdle) return limit_with_idle_cores(host.iterators[index_of(judgement.culprit)]);
  return {Limit::unknown, "the cores are neither idle nor used up"};
}

}  // namespace doctor
