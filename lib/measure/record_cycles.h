#pragma once

#include "measure/cycles.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The cycles of the host's pipelines, from the beginning of the window to a call of a consumer before which no more
/// than end_of_sample() allows iterator calls and functions began. `host` has the iterators and pipelines. Without
/// consumers where the lanes of the trace are no threads, where it shows fewer than two calls, or no function although
/// iterators run some.
CycleSample record_cycles(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                          const HostMeasurement& host);

}  // namespace doctor
