#pragma once

#include "diagnose/pipelines.h"
#include "diagnose/threshold.h"

namespace doctor {

// Who chose the parallelism and the buffers of a pipeline, and what bounds them.

/// The iterator whose parallelism decides how much of the culprit's work is done at once: the culprit itself, or the
/// nearest parallel interleave above it. None if it is done one call at a time.
IteratorId parallel_stage_of(const RankedPipeline& ranked);

/// The most calls at once that AUTOTUNE may choose for a parallel stage: the cycle length of an interleave, else the
/// threads that run functions (the root's `threadpool_size`, where it is missing the CPU budget).
std::optional<std::int64_t> highest_parallelism(const RankedPipeline& ranked, IteratorId stage);

/// How many calls at once to try where the threads of tf.data wait more than they compute: twice as many as now, or as
/// cores. nullopt where the trace shows neither.
std::optional<std::int64_t> parallelism_to_try(const RankedPipeline& ranked, IteratorId stage);

/// The threads of tf.data's pool, where a smaller pool than the machine has cores was set, and a smaller one than the
/// calls that the stage may run at once: then the pool is the limit. nullopt otherwise.
std::optional<std::int64_t> pool_that_binds(const RankedPipeline& ranked, IteratorId stage);

/// "options = tf.data.Options()\noptions.threading.private_threadpool_size = 8\n…": what sets the pool, and
/// `last_line`.
std::string code_with_pool(std::int64_t threads, std::string_view last_line);

/// Advice to take away a pool of so many threads, fewer than the cores.
Advice advice_for_small_pool(const RankedPipeline& ranked, std::int64_t threads);

/// Part of the op time of the culprit's function in which it may wait without a core: in files, and in Python unless
/// its functions are known to keep Python's lock. 0 without ops.
double share_that_waits(const RankedPipeline& ranked);

/// A step that copies on threads of its own without leaving events (ParallelBatch), at the iterator or after it: then
/// cores look idle that are not. None if there is none.
IteratorId unseen_copies_after(const HostMeasurement& host, IteratorId iterator);

/// How long making an element for the prefetch at the end takes, as a share of the time from one GetNext call to the
/// next. Well below 1 although the consumer waits: the prefetch pauses because its buffer is full at one time and
/// cannot make up for it at another. nullopt without a prefetch of the user, without its input, or with fewer than two
/// steady calls.
std::optional<double> producer_share(const RankedPipeline& ranked);

/// Whether the options keep the ops of the pipeline's functions on one thread each (max_intra_op_parallelism = 1, the
/// default of TF's own optimisations). The root says so; in TF 2.4 the option is an iterator.
bool keeps_ops_on_one_thread(const RankedPipeline& ranked);

/// Megabytes that tf.data may use for buffers, as the root of `iterator` says; nullopt where it does not (TF 2.4).
std::optional<double> ram_budget_megabytes(const HostMeasurement& host, IteratorId iterator);

/// Megabytes of the elements that the iterator holds in its buffer, rounded down by the runtime; nullopt where
/// the trace does not say.
std::optional<double> buffered_megabytes(const IteratorMeasurement& iterator);

/// The megabytes of all members of a pipeline together; nullopt where the trace says it of none.
std::optional<double> buffered_megabytes(const HostMeasurement& host, const std::vector<IteratorId>& members);

// What `show autotune` says of a stage and of the budgets of its pipeline. Everything but the fill of buffers is there
// without histories too, from the values that were seen last.

/// What the value that a stage works with means for the pipeline.
enum class Binding {
  unknown,            ///< the trace does not say enough
  nothing,            ///< no sign that it limits anything
  empty_buffer,       ///< mostly empty when asked: the input is slower than its consumer, more buffer gains nothing
  full_buffer,        ///< mostly full when asked: the input keeps up, more buffer gains nothing
  bursts,             ///< often empty and often full: the input comes in bursts, more buffer can smooth them
  cpu_budget,         ///< parallelism is as high as the cores that tf.data may use
  cycle_length,       ///< an interleave works on all inputs of its cycle at once
  fixed_parallelism,  ///< a number in the user's code, half of the CPU budget at most, in the stage that is waited for
};

/// One stage as it was tuned.
struct AutotuneStage {
  IteratorId iterator = kNoIterator;
  std::optional<bool> is_autotuned;          ///< see is_autotuned()
  std::optional<std::int64_t> parallelism;   ///< calls at once; the last number that was seen, likewise below
  std::optional<std::int64_t> cycle_length;  ///< of an interleave: inputs at once
  std::optional<std::int64_t> buffer_limit;  ///< elements, of MapAndBatch batches
  std::optional<BufferFill> fill;            ///< only where histories were read
  Binding binding = Binding::unknown;
};

/// What a pipeline as a whole may use.
struct AutotuneBudget {
  IteratorId root = kNoIterator;          ///< the iterator that says so; kNoIterator: none does
  std::optional<std::int64_t> cpu_cores;  ///< as the root says; before TF 2.5 it does not
  std::optional<std::int64_t> threadpool_size;
  std::optional<std::int64_t> intra_op_parallelism;
  std::optional<std::string> algorithm;
  std::optional<std::int64_t> ram_budget_mb;    ///< for the buffers of the pipeline
  std::optional<std::int64_t> buffered_mb;      ///< in them at the last events
  std::optional<std::int64_t> machine_used_mb;  ///< by all processes
  std::optional<std::int64_t> machine_ram_mb;

  bool is_machine_nearly_full = false;
  bool is_budget_nearly_used = false;
};

/// The last number that the events of an iterator have for an attribute, even if the very last has none.
std::optional<std::int64_t> last_number(const IteratorMeasurement& iterator, std::string_view attribute);

/// Whether the iterator has a parallelism, a buffer or a cycle that can be tuned.
bool is_tunable(const IteratorMeasurement& iterator);

/// The tuning of one iterator of a host. `pipeline` may be null: nobody was seen to wait for it.
AutotuneStage autotune_stage(const HostMeasurement& host, const PipelineMeasurement* pipeline, IteratorId iterator,
                             const ThresholdValues& thresholds);

/// The budgets of the pipeline that `members` form, whose root comes first.
AutotuneBudget autotune_budget(const HostMeasurement& host, const std::vector<IteratorId>& members,
                               const PipelineMeasurement* pipeline, const ThresholdValues& thresholds);

}  // namespace doctor
