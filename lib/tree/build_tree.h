#pragma once

#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Builds the trees: parents by parent id, else by the longest long-name prefix in the same pipeline. Survives cycles
/// of parent ids, duplicate ids and missing parents.
IteratorForest build_tree(const Trace& trace, const WorkOptions& work = {});

}  // namespace doctor
