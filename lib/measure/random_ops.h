#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/function_owners.h"

namespace doctor {

/// Whether an op of this type draws random numbers, or is one that augmentation uses and hardly anything else: random
/// numbers of single values are drawn without an event, so that what is done with them is all there is to see.
bool is_random_op(std::string_view op_type);

/// The types of such ops in the functions of each iterator, sorted; indexed by IteratorId.
std::vector<std::vector<std::string>> random_ops_of(const Trace& trace, const IteratorForest& forest,
                                                    const FunctionOwners& owners);

}  // namespace doctor
