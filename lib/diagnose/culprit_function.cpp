#include "diagnose/culprit_function.h"

#include "measure/functions/op_kind.h"

namespace doctor {

CoresDuringWaits cores_during_waits(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase,
                                    const IteratorMeasurement& iterator, const ThresholdValues& thresholds) {
  const auto window =
      pipeline.calls.empty() ? Picoseconds{0} : pipeline.calls.back().end - pipeline.calls.front().start;
  const auto in_files = static_cast<double>(time_of(iterator.function_ops, waits_for_files));
  PhaseMeasurement others;
  others.busy_threads =
      std::max(0.0, phase.busy_threads - in_files / static_cast<double>(std::max<Picoseconds>(window, 1)));
  CoresDuringWaits cores;
  cores.in_files = time_of(phase.function_ops, waits_for_files);
  cores.utilization = cpu_utilization(pipeline, phase);
  cores.are_used_up = cores.utilization.value_or(0) >= thresholds["cores_used_up"];
  cores.are_used_up_beside_files =
      window > 0 && cpu_utilization(pipeline, others).value_or(0) >= thresholds["cores_used_up"];
  return cores;
}

std::vector<FunctionOp> CulpritFunction::main_ops() const {
  constexpr std::size_t kMost = 3;      // a line of a report holds as many
  constexpr double kLeastShare = 0.01;  // an op that takes less of its function explains nothing
  std::vector<FunctionOp> main;
  for (const FunctionOp& op : ops.first(std::min(kMost, ops.size()))) {
    if (static_cast<double>(op.self) < kLeastShare * static_cast<double>(time)) break;
    main.push_back(op);
  }
  return main;
}

double CulpritFunction::python_share() const {
  const Picoseconds all = time_of_ops();
  return all > 0 ? static_cast<double>(python) / static_cast<double>(all) : 0;
}

CulpritFunction PipelineView::function() const {
  if (!has_culprit()) return {};
  const bool is_costly = judgement.cost.takes != InputCost::Takes::nothing;
  if (phase().culprit == judgement.culprit && !is_costly) {
    return {phase().function_ops, phase().in_function[judgement.culprit], phase().python, true};
  }
  const std::span<const FunctionOp> ops = culprit().function_ops;
  return {ops, time_of(ops), time_of(ops, is_python_op)};
}

}  // namespace doctor
