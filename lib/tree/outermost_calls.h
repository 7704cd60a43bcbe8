#pragma once

#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Finds the background work: calls that no other iterator call encloses and that are not the consumer's. Fills
/// LogicalIterator::top_calls and block_latest_end, and IteratorForest::loose_root_calls. The iterators must exist.
void collect_outermost_calls(const Trace& trace, IteratorForest& forest, const WorkOptions& work);

}  // namespace doctor
