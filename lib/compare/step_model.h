#pragma once

#include <cstddef>
#include <optional>

#include "compare/run_summary.h"

namespace doctor {

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

/// The work of an iterator's functions for one call of the consumer, in microseconds: for each op, the number of calls
/// times the 25th percentile of a call.
double function_work_us(const RunSummary& run, std::size_t iterator);

/// The pipeline of a root, or with kNoIndex the only one without a root; null if there is none.
const PipelineSummary* find_pipeline(const RunSummary& run, std::size_t root);

/// The time between two calls of the consumer, in microseconds: its own work.
double consumer_us(const PipelineSummary& pipeline);

}  // namespace doctor
