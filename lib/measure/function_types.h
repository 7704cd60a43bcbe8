#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/function_owners.h"
#include "measure/measurements.h"

namespace doctor {

/// Whether an op of this type draws random numbers, or is one that augmentation uses and hardly anything else: random
/// numbers of single values are drawn without an event, so that what is done with them is all there is to see.
bool is_random_op(std::string_view op_type);

/// The types of ops that the functions of one iterator ran in the whole window, whoever waited for it.
struct FunctionTypes {
  std::vector<FunctionOp> ops;      ///< longest first, as time of threads; no wrapper ops
  std::vector<std::string> random;  ///< those of is_random_op(), sorted
};

/// Indexed by IteratorId. One pass over all ops.
std::vector<FunctionTypes> function_types_of(const Trace& trace, const IteratorForest& forest,
                                             const FunctionOwners& owners);

/// Whether random ops take at least half of the time of these: little would be left to keep from epoch to epoch.
bool are_mostly_random(std::span<const FunctionOp> ops);

/// Of these, the time in which records are parsed.
Picoseconds time_of_parsers(std::span<const FunctionOp> ops);

}  // namespace doctor
