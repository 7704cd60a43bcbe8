#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "measure/op_kind.h"
#include "trace/trace.h"

namespace doctor {

/// The events of one run of a function, added up over all threads.
struct FunctionEvents {
  double cpu = 0;            ///< us in the executor, without Python
  double python = 0;         ///< us in Python ops
  double op_time = 0;        ///< us of ops beyond the cost of starting them; an estimate if no op is recorded
  std::uint32_t ops = 0;     ///< number of recorded ops, without wrappers
  std::uint32_t spans = 0;   ///< number of executor spans; 0: the trace does not show the cost of the run
  std::uint32_t events = 0;  ///< number of events recorded in the spans
  Picoseconds end = 0;       ///< end of the last span
};

/// The functions of the input pipelines that ran in a part of the window.
struct FunctionCosts {
  std::unordered_map<std::uint64_t, FunctionEvents> by_id;  ///< functions that an iterator ran
  std::vector<Interval> python;                             ///< when any of them runs Python, disjoint and sorted

  /// The events of a function run; null if the trace does not show its cost.
  const FunctionEvents* find(std::uint64_t function_id) const;
};

/// The functions whose runs begin before `until`. `op_kinds` is indexed by StringId.
FunctionCosts add_up_functions(const Trace& trace, const std::vector<OpKind>& op_kinds, Picoseconds until);

}  // namespace doctor
