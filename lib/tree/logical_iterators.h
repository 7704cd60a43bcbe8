#pragma once

#include "tree/iterator_forest.h"

namespace doctor {

/// The first half of build_tree(): logical iterators with names, instances, parents, children and roots. Their calls
/// are still empty.
void build_logical_iterators(const Trace& trace, IteratorForest& forest);

}  // namespace doctor
