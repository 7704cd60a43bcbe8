#pragma once

#include <optional>
#include <vector>

#include "measure/busy_threads.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"

namespace doctor {

/// The work of the host's input pipelines during the first 200 consecutive steady calls of `pipeline`: enough to tell,
/// and a bound on the cost. It is a lower bound, because Eigen threads that do a part of such an op are left out, and
/// so are copies that leave no events. nullopt with fewer than two steady calls, or if threads are not known.
std::optional<InputLoad> measure_input_load(const Trace& trace, const IteratorForest& forest,
                                            const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
                                            const ThreadActivity& activity, const PipelineMeasurement& pipeline,
                                            const WorkOptions& work = {});

}  // namespace doctor
