#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

// What tf.data's stages were given, what AUTOTUNE chose for them, and whether it binds. Everything but the fill of
// buffers is there without histories too, from the values that were seen last.

/// Who decides about a stage's parallelism or buffer.
enum class TunedBy {
  unknown,   ///< the trace does not say
  autotune,  ///< tf.data.AUTOTUNE
  user,      ///< a number in the user's code
};

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

/// The share of calls from which a buffer counts as mostly empty or full: more often than not.
inline constexpr double kMostCalls = 0.5;
/// The share of calls from which empty and full count as often: one call in five is no accident at the start.
inline constexpr double kOftenCalls = 0.2;
/// The share of the time in GetNext from which somebody waits (step 8 of the shared design "diagnosis": mild).
inline constexpr double kWaitedForShare = 0.05;
/// The share of the machine's memory from which AUTOTUNE has no room left for buffers: it plans with half of what is
/// free.
inline constexpr double kMemoryNearlyFull = 0.9;
/// The share of the RAM budget from which buffers are about to be limited by it.
inline constexpr double kBudgetNearlyUsed = 0.8;

/// One stage as it was tuned.
struct AutotuneStage {
  IteratorId iterator = kNoIterator;
  TunedBy given = TunedBy::unknown;
  std::optional<std::int64_t> parallelism;   ///< calls at once; the last number that was seen, likewise below
  std::optional<std::int64_t> cycle_length;  ///< of an interleave: inputs at once
  std::optional<std::int64_t> buffer_limit;  ///< elements, of MapAndBatch batches
  std::optional<BufferFill> fill;            ///< only where histories were read
  Binding binding = Binding::unknown;
};

/// What a pipeline as a whole may use.
struct AutotuneBudget {
  IteratorId root = kNoIterator;          ///< the iterator that says so; kNoIterator: none does
  std::optional<std::int64_t> cpu_cores;  ///< from the attribute, else from the threads in the trace
  std::optional<std::int64_t> threadpool_size;
  std::optional<std::int64_t> intra_op_parallelism;
  std::optional<std::string> algorithm;
  std::optional<std::int64_t> ram_budget_mb;    ///< for the buffers of the pipeline
  std::optional<std::int64_t> buffered_mb;      ///< in them at the last events
  std::optional<std::int64_t> machine_used_mb;  ///< by all processes
  std::optional<std::int64_t> machine_ram_mb;

  bool is_machine_nearly_full() const;
  bool is_budget_nearly_used() const;
};

/// The last number that the events of an iterator said of an attribute, even if the very last could not look.
std::optional<std::int64_t> last_number(const IteratorMeasurement& iterator, std::string_view attribute);

/// Whether the iterator has a parallelism, a buffer or a cycle that can be tuned.
bool is_tunable(const IteratorMeasurement& iterator);

/// The tuning of one iterator of a host. `pipeline` may be null: nobody was seen to wait for it.
AutotuneStage autotune_stage(const HostMeasurement& host, const PipelineMeasurement* pipeline, IteratorId iterator);

/// The budgets of the pipeline that `members` form, whose root comes first.
AutotuneBudget autotune_budget(const HostMeasurement& host, const std::vector<IteratorId>& members,
                               const PipelineMeasurement* pipeline);

}  // namespace doctor
