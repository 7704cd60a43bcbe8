#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "measure/op_kind.h"
#include "trace/trace.h"

namespace doctor {

/// What the events of one run of a function add up to, over all threads.
struct FunctionEvents {
  double cpu = 0;            ///< us in the executor, Python left out
  double python = 0;         ///< us in Python ops
  double op_time = 0;        ///< us of ops beyond what starting them takes; an estimate where none is recorded
  std::uint32_t ops = 0;     ///< recorded, wrappers left out
  std::uint32_t spans = 0;   ///< of the executor; 0: the trace does not show what the run costs
  std::uint32_t events = 0;  ///< recorded in them
  Picoseconds end = 0;       ///< of the last of them
};

/// The functions of the input pipelines that ran in a part of the window.
struct FunctionCosts {
  std::unordered_map<std::uint64_t, FunctionEvents> by_id;  ///< of functions that an iterator ran
  std::vector<Interval> python;                             ///< when any of them runs Python, disjoint and sorted

  /// Null if the trace does not show what the run costs.
  const FunctionEvents* find(std::uint64_t function_id) const;
};

/// The functions whose runs begin before `until`. `op_kinds` is indexed by StringId.
FunctionCosts add_up_functions(const Trace& trace, const std::vector<OpKind>& op_kinds, Picoseconds until);

}  // namespace doctor
