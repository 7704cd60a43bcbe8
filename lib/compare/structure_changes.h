#pragma once

#include <string>
#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Calls of an iterator for one call of the consumer; 0 if its root was never called.
double calls_per_step(const RunSummary& run, std::size_t iterator);

/// The calls for a step that the batch sizes above the iterator imply, if the recording agrees apart from what its
/// window cuts off; else the measured number.
double steady_calls_per_step(const RunSummary& run, std::size_t iterator);

/// Tests for a map and the batch after it in one, whose function runs for every element of its batches.
bool is_map_and_batch(const IteratorSummary& iterator);

/// Runs of the iterator's function for one call of the consumer: the number that the batch sizes above it imply, if the
/// recording agrees apart from what its window cuts off; else the measured number.
double function_runs_per_step(const RunSummary& run, std::size_t iterator);

/// The total microseconds of calls, each limited to the 90th percentile: what delayed a few of them was the machine.
double work_us(const DurationStatistics& durations);

/// Microseconds of work for one call of the consumer: the iterator's own parts, or those of its functions if it waits
/// for other threads.
double work_per_step_us(const RunSummary& run, std::size_t iterator);

/// The same for all iterators.
double all_work_us(const RunSummary& run);

/// Microseconds of work in words: "2.40 ms".
std::string format_work(double microseconds);

/// Tests whether a call of the iterator makes as many elements of the source on both sides: else its times are those of
/// different work.
bool has_like_calls(const AlignedRuns& runs, const AlignedIterator& iterator);

/// Tests whether a step makes as many elements of the source on both sides. `before` and `after` are one iterator, in
/// one place or in two.
bool has_like_steps(const AlignedRuns& runs, const AlignedIterator& before, const AlignedIterator& after);

/// The differences between the pipelines themselves: iterators, their settings and their numbers of calls.
std::vector<StructureChange> find_structure_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
