#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// The iterator at the top of those that an iterator belongs to.
const IteratorSummary& root_of(const RunSummary& run, std::size_t iterator);

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

/// The same for an iterator's own work, as the batch sizes above it have it, where the recording agrees: what is a map
/// and a batch in one does its map's work that often. nullopt where it does not.
std::optional<double> planned_calls_per_step(const RunSummary& run, std::size_t iterator);

/// Work that is added to an iterator, in microseconds for one call of the consumer.
struct AddedWork {
  std::size_t iterator = kNoIndex;  ///< index into RunSummary::iterators; kNoIndex: nothing is added
  bool is_in_function = false;      ///< the iterator runs its function on other threads
  double us = 0;
};

/// The duration of an undisturbed step of the pipeline, in microseconds. Its threads work at once, so it is the longest
/// of their parts, which lie between iterators that hand elements from thread to thread. A part that runs several calls
/// at once counts with its work divided by their number; the first part includes the consumer. Work is the number of
/// calls times the 25th percentile of a call. nullopt if the recording shows no steps. Source: the model of rates of
/// docs/whatif.md, without its replay.
std::optional<double> modelled_step_us(const RunSummary& run, const PipelineSummary& pipeline,
                                       std::optional<double> consumer_us = {}, const AddedWork& added = {});

/// The time that each iterator needs for a step of the pipeline, in microseconds, indexed by iterator: its work and
/// that of its functions, divided by the number of calls that run at once. 0 for iterators of other pipelines.
std::vector<double> stage_times_us(const RunSummary& run, const PipelineSummary& pipeline);

/// The duration of a call that work is computed with. Both sides of a share need the same one.
enum class CallTime {
  undisturbed,  ///< the 25th percentile: what a busy machine delays does not count
  mean,
};

double call_time_us(const DurationStatistics& durations, CallTime time);

/// The work of an iterator's functions for one call of the consumer, in microseconds: for each op, the number of calls
/// times the duration of a call.
double function_work_us(const RunSummary& run, std::size_t iterator, CallTime time = CallTime::undisturbed);

/// The work of an iterator for one call of the consumer, in microseconds: its own parts, or those of its functions if
/// it waits for other threads.
double iterator_work_us(const RunSummary& run, std::size_t iterator, CallTime time = CallTime::undisturbed);

/// The same for all iterators.
double pipeline_work_us(const RunSummary& run, CallTime time = CallTime::undisturbed);

/// The pipeline that takes longest for a step, `has_root`: of those whose iterators are known; null if none shows
/// steps. What feeds another pipeline does not count.
const PipelineSummary* slowest_pipeline(const RunSummary& run, bool has_root);

/// The pipeline of a root, or with kNoIndex the only one without a root; null if there is none.
const PipelineSummary* find_pipeline(const RunSummary& run, std::size_t root);

/// The time between two calls of the consumer, in microseconds: its own work.
double consumer_us(const PipelineSummary& pipeline);

}  // namespace doctor
