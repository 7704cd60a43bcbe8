#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison.h"

namespace doctor {

/// Calls of an iterator for one call of the consumer; 0 where its root was never called.
double calls_per_step(const RunSummary& run, std::size_t iterator);

/// Microseconds of work for one call of the consumer: its own parts, or those of its functions where it waits for other
/// threads.
double work_per_step_us(const RunSummary& run, std::size_t iterator);

/// Whether the batch size of the iterator, or of one on the way to the consumer, is another in the candidate: then a
/// step, and a call of it, is not the same piece of work.
bool has_other_batch(const AlignedRuns& runs, const AlignedIterator& iterator);

/// What is not the same about the pipelines themselves: iterators, their settings and how often they are called.
std::vector<StructureChange> find_structure_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
