#include "report/autotune.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/numbers.h"

namespace doctor {
namespace {

AutotuneGroup group_of(const HostMeasurement& host, const PipelineMeasurement* pipeline, std::string id,
                       std::vector<IteratorId> members, const ThresholdValues& thresholds) {
  AutotuneGroup group{host, pipeline, std::move(id), std::move(members), {}, {}};
  group.budget = autotune_budget(host, group.members, pipeline, thresholds);
  for (const IteratorId member : group.members) {
    if (is_tunable(host.iterators[index_of(member)]))
      group.stages.push_back(autotune_stage(host, pipeline, member, thresholds));
  }
  return group;
}

std::string describe_cores(const AutotuneGroup& group, const AutotuneStage& stage) {
  const auto cores = static_cast<std::uint64_t>(std::max<std::int64_t>(group.budget.cpu_cores.value_or(0), 0));
  const std::string budget = fmt::format("the CPU budget of {}", format_count(cores, "core"));
  if (stage.binding == Binding::fixed_parallelism) {
    return fmt::format("fixed at {}, {} would allow more, and the consumer waits for it: AUTOTUNE may raise it",
                       *stage.parallelism, budget);
  }
  const bool is_above = *stage.parallelism > group.budget.cpu_cores.value_or(0);
  return fmt::format("{} {}", is_above ? "above" : "at", budget);
}

}  // namespace

std::vector<AutotuneGroup> autotune_groups(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::vector<AutotuneGroup> groups;
  for (const PipelineView& view : pipelines_of(measurements, diagnosis.judgement)) {
    if (view.pipeline.feeds_another) continue;
    groups.push_back(group_of(view.host, &view.pipeline, pipeline_id(view.judgement, view.pipeline),
                              members_in_tree_order(view.host, view.pipeline), diagnosis.thresholds));
  }
  for (const HostMeasurement& host : measurements.hosts) {
    std::vector<IteratorId> others = other_iterators(host);
    if (!others.empty()) groups.push_back(group_of(host, nullptr, {}, std::move(others), diagnosis.thresholds));
  }
  return groups;
}

std::string describe_binding(const AutotuneGroup& group, const AutotuneStage& stage) {
  switch (stage.binding) {
    case Binding::unknown:
      return "the trace does not say";
    case Binding::nothing:
      return {};
    case Binding::empty_buffer:
      return fmt::format(
          "empty in {} of the calls: its input is slower than its consumer, a larger buffer gains nothing",
          format_share(stage.fill->empty_share()));
    case Binding::full_buffer:
      return fmt::format("full in {} of the calls: the input keeps up, a larger buffer gains nothing",
                         format_share(stage.fill->full_share()));
    case Binding::bursts:
      return fmt::format("empty in {} and full in {} of the calls: a larger buffer can smooth the bursts",
                         format_share(stage.fill->empty_share()), format_share(stage.fill->full_share()));
    case Binding::cycle_length:
      return fmt::format("at its cycle_length of {}: works on all its inputs at once", *stage.cycle_length);
    case Binding::cpu_budget:
    case Binding::fixed_parallelism:
      return describe_cores(group, stage);
  }
  return {};
}

}  // namespace doctor
