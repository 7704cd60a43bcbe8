#pragma once

#include <cstddef>
#include <optional>

#include "compare/run_summary.h"

namespace doctor {

/// Work that is added to an iterator: microseconds for one call of the consumer.
struct AddedWork {
  std::size_t iterator = kNoIndex;  ///< index into RunSummary::iterators; kNoIndex: none is added
  bool is_in_function = false;      ///< of an iterator that runs its function on other threads
  double us = 0;
};

/// How long a step of the pipeline takes if nothing disturbs it, in microseconds: its threads work at once, so it is
/// the longest of their parts. The parts are those between iterators that hand elements from thread to thread; a part
/// that runs several calls at once takes its work divided by their number; the first one holds the consumer, too. Work
/// is calls times the 25th percentile of what one takes. nullopt where the recording shows no steps.
/// Source: the model of rates of docs/whatif.md, without its replay.
std::optional<double> modelled_step_us(const RunSummary& run, const PipelineSummary& pipeline,
                                       std::optional<double> consumer_us = {}, const AddedWork& added = {});

/// Work of an iterator's functions for one call of the consumer, in microseconds: calls times the 25th percentile of
/// what one takes, of each op.
double function_work_us(const RunSummary& run, std::size_t iterator);

/// The pipeline of a root, or without one the only one that has none; null if there is none.
const PipelineSummary* find_pipeline(const RunSummary& run, std::size_t root);

/// What passes between two calls of the consumer, in microseconds: its own work.
double consumer_us(const PipelineSummary& pipeline);

}  // namespace doctor
