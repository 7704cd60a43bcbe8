#pragma once

#include <vector>

#include "base/work.h"
#include "measure/function_owners.h"

namespace doctor {

/// IteratorMeasurement::function of every iterator, indexed by IteratorId. `waits` is indexed likewise: true if the
/// iterator waits for other threads, so that its functions run beside its calls. Other iterators run their functions
/// inside their calls, whose time has them already: 0. One pass over all ops.
std::vector<Picoseconds> add_up_function_work(const Trace& trace, const FunctionOwners& owners,
                                              const std::vector<bool>& waits, const WorkOptions& work = {});

}  // namespace doctor
