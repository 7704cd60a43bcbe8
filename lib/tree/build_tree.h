#pragma once

#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Builds the trees: parents by parent id, else by the longest prefix of the long name in the same pipeline. Cycles of
/// parent ids, duplicate ids and missing parents are tolerated.
IteratorForest build_tree(const Trace& trace, const WorkOptions& work = {});

}  // namespace doctor
