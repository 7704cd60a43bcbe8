#pragma once

#include <functional>
#include <vector>

#include "measure/cycles.h"
#include "measure/function_costs.h"
#include "measure/op_kind.h"
#include "profile/device_profile.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The steps of the consumers that take the elements of `calls`, with the work of devices meanwhile. The calls are
/// sorted by start, and `cycle_of(call)` is the cycle of each. A thread that takes elements of several pipelines in
/// turn is one consumer; pipelines whose calls overlap have one each. The gap of the last step is not known, and a gap
/// may be untypical of the steady state: both are replaced by the median.
std::vector<ConsumerCycles> consumers_of(const Trace& trace, const FunctionCosts& functions,
                                         const std::vector<OpKind>& op_kinds, const std::vector<const RootCall*>& calls,
                                         const DeviceProfile& devices,
                                         const std::function<Cycle(const RootCall&)>& cycle_of);

/// The share of the consumer's gaps in which a function of the input runs Python.
double python_share_of_gaps(const ConsumerCycles& consumer, const FunctionCosts& functions);

/// Finds out whether the input's Python functions keep Python's lock. A call from Python into TensorFlow takes the lock
/// back when its work is done: within microseconds if a function of the input sleeps or works without the lock;
/// otherwise only when that function is done, or Python's switch interval of 5 ms is over. `unknown` with fewer than
/// three such calls.
PythonLock find_python_lock(const Trace& trace, const FunctionCosts& functions, Picoseconds until);

}  // namespace doctor
