#pragma once

#include "base/time.h"
#include "measure/functions/function_owners.h"
#include "measure/functions/op_kind.h"
#include "measure/measurements.h"
#include "trace/trace.h"

namespace doctor {

/// Tests whether an op of this type draws random numbers, or is used by augmentation and hardly by anything else.
/// Random numbers of single values are drawn without an event, so only the ops that use them can be seen.
bool is_random_op(std::string_view op_type);

/// The types of ops that the functions of one iterator ran in the whole window, whoever waited for them.
struct FunctionTypes {
  std::vector<FunctionOp> ops;      ///< longest first, as time of threads; without wrapper ops
  std::vector<std::string> random;  ///< those of is_random_op(), sorted
};

/// The op types, indexed by IteratorId. One pass over all ops.
std::vector<FunctionTypes> function_types_of(const Trace& trace, const IteratorForest& forest,
                                             const FunctionOwners& owners);

/// Tests whether random ops take at least half of the time: then little would be left to keep from epoch to epoch.
bool are_mostly_random(std::span<const FunctionOp> ops);

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
