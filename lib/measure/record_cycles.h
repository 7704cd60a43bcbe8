#pragma once

#include "measure/cycles.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The cycles of the host's pipelines, from the beginning of the window to a call of a consumer before which at most as
/// many iterator calls and functions began as end_of_sample() allows. `host` has the iterators and pipelines. There are
/// no consumers if the lanes of the trace are not threads, or if it shows fewer than two calls, or no function although
/// iterators run some.
CycleSample record_cycles(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                          const HostMeasurement& host);

}  // namespace doctor
