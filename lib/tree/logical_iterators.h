#pragma once

#include "tree/iterator_forest.h"

namespace doctor {

/// First half of build_tree(): the logical iterators with names, instances, parents, children and roots; calls are
/// still empty.
void build_logical_iterators(const Trace& trace, IteratorForest& forest);

}  // namespace doctor
