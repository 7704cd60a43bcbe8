#include "diagnose/culprit_function.h"

#include <algorithm>

#include "measure/op_kind.h"

namespace doctor {

Picoseconds CulpritFunction::time_of_ops() const {
  Picoseconds sum = 0;
  for (const FunctionOp& op : ops) sum += op.self;
  return sum;
}

double CulpritFunction::python_share() const {
  const Picoseconds all = time_of_ops();
  return all > 0 ? static_cast<double>(python) / static_cast<double>(all) : 0;
}

CulpritFunction function_of_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                    const PipelineJudgement& judgement) {
  const IteratorId culprit = judgement.culprit;
  if (culprit == kNoIterator) return {};
  const PhaseMeasurement& phase = judged_phase(pipeline, judgement);
  const bool is_costly = judgement.cost.takes != InputCost::Takes::nothing;
  if (phase.culprit == culprit && !is_costly) {
    return {phase.function_ops, phase.in_function[index_of(culprit)], phase.python, true};
  }
  CulpritFunction function;
  function.ops = host.iterators[index_of(culprit)].function_ops;
  function.time = function.time_of_ops();
  for (const FunctionOp& op : function.ops) {
    if (is_python_op(op.op)) function.python += op.self;
  }
  return function;
}

}  // namespace doctor
