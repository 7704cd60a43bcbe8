#pragma once

#include <string>
#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Calls of an iterator for one call of the consumer; 0 where its root was never called.
double calls_per_step(const RunSummary& run, std::size_t iterator);

/// The same as the batch sizes above it imply, where the recording agrees but for what its window cuts off; else what
/// was measured.
double steady_calls_per_step(const RunSummary& run, std::size_t iterator);

/// A map and the batch after it in one, whose function runs for every element of its batches.
bool is_map_and_batch(const IteratorSummary& iterator);

/// Runs of the iterator's function for one call of the consumer: what the batch sizes above it imply, where the
/// recording agrees but for what its window cuts off, else what was measured.
double function_runs_per_step(const RunSummary& run, std::size_t iterator);

/// Microseconds that calls take together, each at most as long as nine of ten: what held up a few was the machine.
double work_us(const DurationStatistics& durations);

/// Microseconds of work for one call of the consumer: its own parts, or those of its functions where it waits for other
/// threads.
double work_per_step_us(const RunSummary& run, std::size_t iterator);

/// The same of all iterators.
double all_work_us(const RunSummary& run);

/// Microseconds of work in words: "2.40 ms".
std::string format_work(double microseconds);

/// Whether a call of the iterator makes as many elements of the source on both sides: else its times are those of other
/// pieces of work.
bool has_like_calls(const AlignedRuns& runs, const AlignedIterator& iterator);

/// Whether a step makes as many elements of the source on both sides. `before` and `after` are one iterator, in one
/// place or in two.
bool has_like_steps(const AlignedRuns& runs, const AlignedIterator& before, const AlignedIterator& after);

/// What is not the same about the pipelines themselves: iterators, their settings and how often they are called.
std::vector<StructureChange> find_structure_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
