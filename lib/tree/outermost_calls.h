#pragma once

#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Finds the calls that no other iterator call encloses and that are not the consumer's, which is background work:
/// LogicalIterator::top_calls and block_latest_end, and IteratorForest::loose_root_calls, whose iterators are there.
void collect_outermost_calls(const Trace& trace, IteratorForest& forest, const WorkOptions& work);

}  // namespace doctor
