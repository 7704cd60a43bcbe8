#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/function_owners.h"
#include "measure/measurements.h"

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

/// The time of these ops in which records are parsed.
Picoseconds time_of_parsers(std::span<const FunctionOp> ops);

}  // namespace doctor
