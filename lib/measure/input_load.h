#pragma once

#include <optional>
#include <vector>

#include "measure/busy_threads.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"

namespace doctor {

/// What the input pipelines of the host do while the first 200 steady calls of `pipeline` follow one another: enough to
/// tell, and a bound for what it costs. Eigen threads that do a part of such an op are left out, as are copies that
/// leave no events, so it is the least that they do. nullopt with fewer than two steady calls, or where threads are not
/// known.
std::optional<InputLoad> measure_input_load(const Trace& trace, const IteratorForest& forest,
                                            const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
                                            const ThreadActivity& activity, const PipelineMeasurement& pipeline,
                                            const WorkOptions& work = {});

}  // namespace doctor
