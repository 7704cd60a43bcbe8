#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diagnose/pipelines.h"

namespace doctor {

// Who chose the parallelism and the buffers of a pipeline, and what bounds them.

/// Whether AUTOTUNE chooses the iterator's parallelism or buffer; nullopt where the trace does not tell (a prefetch of
/// TF 2.4, a TF1 timeline, a kind that has neither).
std::optional<bool> is_autotuned(const IteratorMeasurement& iterator);

/// The iterator whose parallelism decides how much of the culprit's work is done at once: the culprit itself, or the
/// nearest parallel interleave above it. None if it is done one call at a time.
IteratorId parallel_stage_of(const RankedPipeline& ranked);

/// The most calls at once that AUTOTUNE may choose for a parallel stage: the cycle length of an interleave, else the
/// threads that run functions (the root's `threadpool_size`, where it is missing the CPU budget).
std::optional<std::int64_t> highest_parallelism(const RankedPipeline& ranked, IteratorId stage);

/// How many calls at once to try where the threads of tf.data wait more than they compute: twice as many as now, or as
/// cores. nullopt where the trace tells neither.
std::optional<std::int64_t> parallelism_to_try(const RankedPipeline& ranked, IteratorId stage);

/// The threads of tf.data's pool, where a smaller pool than the machine has cores was set, and a smaller one than the
/// calls that the stage may run at once: then the pool is the limit. nullopt otherwise.
std::optional<std::int64_t> pool_that_binds(const RankedPipeline& ranked, IteratorId stage);

/// "options = tf.data.Options()\noptions.threading.private_threadpool_size = 8\n…": what sets the pool, and
/// `last_line`.
std::string code_with_pool(std::int64_t threads, std::string_view last_line);

/// A step that copies on threads of its own without leaving events (ParallelBatch), at the iterator or after it: then
/// cores look idle that are not. None if there is none.
IteratorId unseen_copies_after(const HostMeasurement& host, IteratorId iterator);

/// How long making an element for the prefetch at the end takes, as a part of the time from one GetNext call to the
/// next. Well below 1 although the consumer waits: the prefetch pauses because its buffer is full at one time and
/// cannot make up for it at another. nullopt without a prefetch of the user, without its input, or with fewer than two
/// steady calls.
std::optional<double> producer_share(const RankedPipeline& ranked);

/// Whether the options keep the ops of the pipeline's functions on one thread each (max_intra_op_parallelism = 1, the
/// default of TF's own optimisations). The root says so; in TF 2.4 an iterator stands for the option.
bool keeps_ops_on_one_thread(const RankedPipeline& ranked);

/// Megabytes that tf.data may use for buffers, as the root of `iterator` says; nullopt where it does not (TF 2.4).
std::optional<double> ram_budget_megabytes(const HostMeasurement& host, IteratorId iterator);

/// Megabytes of the elements that the iterator holds in its buffer, rounded down by the runtime; nullopt where
/// the trace does not tell.
std::optional<double> buffered_megabytes(const IteratorMeasurement& iterator);

}  // namespace doctor
