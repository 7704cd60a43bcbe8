#include "diagnose/cores.h"
#include "diagnose/culprit_function.h"
#include "diagnose/judgement_passes.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "measure/functions/op_kind.h"

namespace doctor {
namespace {

double share_in_files(const CulpritFunction& function) {
  const Picoseconds all = function.time_of_ops();
  return all > 0 ? static_cast<double>(time_of(function.ops, waits_for_files)) / static_cast<double>(all) : 0;
}

bool works_on_several(const IteratorMeasurement& iterator) {
  return iterator.has(Trait::parallel) && !iterator.is_sequential_map();
}

/// The limit of a stage that has all it needs but may not do more at once.
JudgedLimit limit_of_stage(const HostMeasurement& host, IteratorId stage) {
  const IteratorMeasurement& iterator = host.iterators[stage];
  JudgedLimit limit;
  limit.stage = stage;
  if (works_on_several(iterator)) {
    limit.limit = Limit::calls;
    limit.count = std::max<std::int64_t>(0, iterator.number("parallelism").value_or(0));
  } else {
    limit.limit = iterator.is_source ? Limit::source : Limit::thread;
    limit.count = 1;
  }
  return limit;
}

JudgedLimit limit_of_cores(const PipelineMeasurement& pipeline) {
  return {.limit = Limit::cores, .count = std::max<std::int64_t>(0, pipeline.cpu_budget.value_or(0))};
}

JudgedLimit unknown_limit(NoLimitBecause because) {
  return {.unknown_because = because};
}

/// nullopt where the model's consumer does not wait for its input: then the waits are those of single calls.
std::optional<JudgedLimit> limit_by_model(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  const Bottleneck& bottleneck = *judgement.bottleneck;
  const bool is_of_culprit = bottleneck.stage == index_of(judgement.culprit);
  // A stage that cannot be told apart from the culprit may be where the waits of the model end.
  JudgedLimit limit = limit_of_stage(evidence.host, judgement.culprit);
  switch (bottleneck.resource) {
    case Resource::consumer:
      return std::nullopt;
    case Resource::cores:
      limit = limit_of_cores(evidence.pipeline);
      if (is_of_culprit) limit.stage = judgement.culprit;
      return limit;
    case Resource::pool:
      limit = JudgedLimit{Limit::pool};
      limit.count = evidence.host.cycles.knows_cores ? static_cast<std::int64_t>(bottleneck.count) : 0;
      return limit;
    case Resource::python:
      limit = JudgedLimit{Limit::python_lock};
      limit.stage =
          bottleneck.stage < evidence.host.iterators.size() ? static_cast<IteratorId>(bottleneck.stage) : kNoIterator;
      return limit;
    case Resource::thread:
    case Resource::calls:
      break;
  }
  if (is_of_culprit) limit.count = static_cast<std::int64_t>(bottleneck.count);
  return limit;
}

/// Cores are idle: because the culprit may not do more at once, or because it waits itself.
JudgedLimit limit_with_idle_cores(const HostMeasurement& host, IteratorId culprit) {
  const IteratorMeasurement& iterator = host.iterators[culprit];
  JudgedLimit limit = limit_of_stage(host, culprit);
  if (iterator.kind().source == Source::service || iterator.has(Trait::snapshot)) {
    limit = JudgedLimit{Limit::outside};
  } else if (iterator.is_source) {
    return unknown_limit(NoLimitBecause::source_waits_or_unpacks);
  }
  limit.has_idle_cores = true;
  return limit;
}

JudgedLimit estimate_limit(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  const PipelineView view = {evidence.host, evidence.pipeline, judgement};
  const CoresDuringWaits cores =
      cores_during_waits(evidence.pipeline, view.phase(), view.culprit(), evidence.thresholds);
  const std::optional<double>& utilization = cores.utilization;
  if (judgement.chosen_by != ChosenBy::waits) {
    const bool are_used_up = judgement.chosen_by == ChosenBy::cores || cores.are_used_up;
    return are_used_up ? limit_of_cores(evidence.pipeline) : limit_of_stage(evidence.host, judgement.culprit);
  }
  const CulpritFunction function = view.function();
  if (function.python_share() > evidence.thresholds["max_python_share"]) {
    return {.python_share = function.python_share(), .unknown_because = NoLimitBecause::python};
  }
  const double files = share_in_files(function);
  if (files >= evidence.thresholds["min_file_share"] && !cores.are_used_up_beside_files) {
    return {.limit = Limit::outside, .file_share = files};
  }
  if (!utilization && view.phase().busy_threads > evidence.thresholds["cores_idle"]) {
    return unknown_limit(NoLimitBecause::unknown_cores);
  }
  if (cores.are_used_up) return limit_of_cores(evidence.pipeline);
  if (const IteratorId copies = unseen_copies_after(evidence.host, judgement.culprit); copies != kNoIterator) {
    return {.stage = copies, .unknown_because = NoLimitBecause::unseen_copies};
  }
  // Not even one core is in use, however many there are.
  if (!utilization || *utilization <= evidence.thresholds["cores_idle"]) {
    return limit_with_idle_cores(evidence.host, judgement.culprit);
  }
  return unknown_limit(NoLimitBecause::cores_half_used);
}

}  // namespace

JudgedLimit limit_of(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  if (judgement.culprit == kNoIterator || judgement.phase == Phase::background) return {};
  if (judgement.cost.takes == InputCost::Takes::cores) return limit_of_cores(evidence.pipeline);
  if (judgement.cost.takes == InputCost::Takes::python_lock) {
    return JudgedLimit{Limit::python_lock};
  }
  if (judgement.bottleneck) {
    if (std::optional<JudgedLimit> limit = limit_by_model(evidence, judgement)) return *std::move(limit);
  }
  return estimate_limit(evidence, judgement);
}

}  // namespace doctor
