#pragma once

#include <string>
#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// The total microseconds of calls, each limited to the 90th percentile: what delayed a few of them was the machine.
double work_us(const DurationStatistics& durations);

/// Microseconds of work for one call of the consumer: the iterator's own parts, or those of its functions if it waits
/// for other threads.
double work_per_step_us(const RunSummary& run, std::size_t iterator);

/// The same for all iterators.
double all_work_us(const RunSummary& run);

/// Work that was added to a step, in words: "+2.40 ms of work a step".
std::string format_added_work(double microseconds);

/// Tests whether a call of the iterator makes as many elements of the source on both sides: else its times are those of
/// different work.
bool has_like_calls(const AlignedRuns& runs, const AlignedIterator& iterator);

/// Tests whether a step makes as many elements of the source on both sides. `before` and `after` are one iterator, in
/// one place or in two.
bool has_like_steps(const AlignedRuns& runs, const AlignedIterator& before, const AlignedIterator& after);

/// The differences between the pipelines themselves: iterators, their settings and their numbers of calls.
std::vector<StructureChange> find_structure_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
