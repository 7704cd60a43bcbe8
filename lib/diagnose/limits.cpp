#include "diagnose/limits.h"

#include <fmt/format.h>

#include "diagnose/cores.h"
#include "diagnose/culprit_function.h"
#include "diagnose/dataset_words.h"
#include "diagnose/throughput_words.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "measure/op_kind.h"
#include "text/numbers.h"

namespace doctor {
namespace {

double share_in_files(const CulpritFunction& function) {
  const Picoseconds all = function.time_of_ops();
  return all > 0 ? static_cast<double>(time_in_files(function.ops)) / static_cast<double>(all) : 0;
}

bool works_on_several(const IteratorMeasurement& iterator) {
  return has_trait(iterator, Trait::parallel) && !is_sequential_map(iterator);
}

/// The limit of a stage that has all it needs but may not do more at once.
JudgedLimit limit_of_stage(const HostMeasurement& host, IteratorId stage) {
  const IteratorMeasurement& iterator = host.iterators[index_of(stage)];
  const std::string name = describe(host, stage);
  if (!works_on_several(iterator)) {
    return {iterator.is_source ? Limit::source : Limit::thread, "the one thread of " + name};
  }
  const std::optional<std::int64_t> calls = iterator.number("parallelism");
  return {Limit::calls,
          calls && *calls > 0
              ? fmt::format("the {} of {}", format_count(static_cast<std::uint64_t>(*calls), "parallel call"), name)
              : "the number of parallel calls of " + name};
}

JudgedLimit limit_of_cores(const PipelineMeasurement& pipeline) {
  const std::int64_t cores = pipeline.cpu_budget.value_or(0);
  return {Limit::cores,
          cores > 0 ? "the " + format_count(static_cast<std::uint64_t>(cores), "core") : std::string("the cores")};
}

/// nullopt where the model's consumer does not wait for its input: then the waits are those of single calls.
std::optional<JudgedLimit> limit_by_model(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                          const PipelineJudgement& judgement) {
  const Bottleneck& bottleneck = *judgement.bottleneck;
  const bool is_of_culprit = bottleneck.stage == index_of(judgement.culprit);
  switch (bottleneck.resource) {
    case Resource::consumer:
      return std::nullopt;
    case Resource::cores:
      return is_of_culprit ? JudgedLimit{Limit::cores, describe_bottleneck(host, bottleneck)}
                           : limit_of_cores(pipeline);
    case Resource::pool:
      return JudgedLimit{Limit::pool, describe_bottleneck(host, bottleneck)};
    case Resource::python:
      return JudgedLimit{Limit::python_lock, describe_bottleneck(host, bottleneck)};
    case Resource::thread:
    case Resource::calls:
      break;
  }
  // A stage that cannot be told apart from the culprit may be where the waits of the model end.
  JudgedLimit limit = limit_of_stage(host, judgement.culprit);
  if (is_of_culprit) limit.words = describe_bottleneck(host, bottleneck);
  return limit;
}

/// Cores are idle: because the culprit may not do more at once, or because it waits itself.
JudgedLimit limit_with_idle_cores(const HostMeasurement& host, IteratorId culprit) {
  const IteratorMeasurement& iterator = host.iterators[index_of(culprit)];
  if (dataset_kind(iterator).source == Source::service || kind_of(iterator) == "Snapshot") {
    return {Limit::outside, "where the elements come from: cores are idle"};
  }
  if (iterator.is_source) {
    return {Limit::unknown, "cores are idle, but a trace does not distinguish waiting for storage from unpacking"};
  }
  JudgedLimit limit = limit_of_stage(host, culprit);
  limit.words += ", while cores are idle";
  return limit;
}

JudgedLimit estimate_limit(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                           const PipelineJudgement& judgement, const ThresholdValues& thresholds) {
  const PhaseMeasurement& phase = judged_phase(pipeline, judgement);
  const std::optional<double> utilization = cpu_utilization(pipeline, phase);
  if (judgement.chosen_by != ChosenBy::waits) {
    const bool are_used_up =
        judgement.chosen_by == ChosenBy::cores || utilization.value_or(0) >= thresholds["cores_used_up"];
    return are_used_up ? limit_of_cores(pipeline) : limit_of_stage(host, judgement.culprit);
  }
  const CulpritFunction function = function_of_culprit(host, pipeline, judgement);
  if (function.python_share() > thresholds["max_python_share"]) {
    return {Limit::unknown,
            fmt::format("Python takes {} of the function: a trace does not distinguish computing in it, "
                        "waiting for its lock, sleeping and waiting for I/O",
                        format_share(function.python_share()))};
  }
  const double files = share_in_files(function);
  const IteratorMeasurement& culprit = host.iterators[index_of(judgement.culprit)];
  if (files >= thresholds["min_file_share"] && !are_cores_used_up_beside_files(pipeline, phase, culprit, thresholds)) {
    return {Limit::outside,
            fmt::format("files: ops that read or write them take {} of the function", format_share(files))};
  }
  if (!utilization && phase.busy_threads > thresholds["cores_idle"]) {
    return {Limit::unknown, why_cores_are_unknown(host)};
  }
  if (utilization && *utilization >= thresholds["cores_used_up"]) return limit_of_cores(pipeline);
  if (const IteratorId copies = unseen_copies_after(host, judgement.culprit); copies != kNoIterator) {
    return {Limit::unknown,
            fmt::format("{} copies on threads that leave no events, so cores that look idle may be busy",
                        describe(host, copies))};
  }
  // Not even one core is in use, however many there are.
  if (!utilization || *utilization <= thresholds["cores_idle"]) return limit_with_idle_cores(host, judgement.culprit);
  return {Limit::unknown, "the cores are neither idle nor used up"};
}

}  // namespace

JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement, const ThresholdValues& thresholds) {
  if (judgement.culprit == kNoIterator || judgement.phase == Phase::background) return {};
  if (judgement.cost.takes == InputCost::Takes::cores) return limit_of_cores(pipeline);
  if (judgement.cost.takes == InputCost::Takes::python_lock) {
    return {Limit::python_lock, "Python's lock, which the training needs too"};
  }
  if (judgement.bottleneck) {
    if (std::optional<JudgedLimit> limit = limit_by_model(host, pipeline, judgement)) return *std::move(limit);
  }
  return estimate_limit(host, pipeline, judgement, thresholds);
}

}  // namespace doctor
