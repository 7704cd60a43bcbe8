#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace doctor {

// What the threads of the pipelines did, element by element and in order, for a model to replay. Times are in
// microseconds: a model needs no exact sums.

/// An index into CycleSample::stages, and of the same iterator in HostMeasurement::iterators.
using StageIndex = std::uint32_t;
inline constexpr StageIndex kNoStage = std::numeric_limits<StageIndex>::max();

/// A piece of a thread's work.
struct CycleItem {
  enum class Kind : std::uint8_t {
    work,      ///< the iterator's own work
    function,  ///< a run of the user's function
    pull,      ///< takes an element that other threads make: from an asynchronous iterator, or from another pipeline
    enter,     ///< a call of the iterator begins
    leave,     ///< the call ends
    outside,   ///< the consumer is in GetNext, but in no iterator
  };
  Kind kind = Kind::work;
  StageIndex stage = kNoStage;
  float cpu = 0;      ///< us that need a core
  float wait = 0;     ///< us that need none: sleeping, Python, input and output
  float tracing = 0;  ///< us of `cpu` that recording its events took
  float cores = 1;    ///< cores that it uses while it needs one: an op may spread over several threads
};

/// Items [first, end) of CycleSample::items, in which a thread makes one element.
struct Cycle {
  Picoseconds start = 0;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// The cost of one run of a parallel iterator's function.
struct FunctionCost {
  float cpu = 0;      ///< us
  float python = 0;   ///< us in Python: computing, sleeping or waiting for its lock
  float tracing = 0;  ///< us of `cpu` that recording its events took
  /// us of a call of the function in which nothing of it ran: threads had to wake up, or it waited.
  float calling = 0;
};

/// An iterator, as the model sees it.
struct Stage {
  StageIndex parent = kNoStage;
  bool is_async = false;       ///< threads of its own make its elements
  StageIndex link = kNoStage;  ///< the pipeline that it takes its elements from: of a device, or of the tf.data service
  std::vector<Cycle> cycles;   ///< cycles of the threads that make its elements, in order of start
  /// The cost of each element's function, in the order in which the elements were taken if the trace says so, else in
  /// order of the runs.
  std::vector<FunctionCost> functions;
  double python = 0;        ///< us of its functions in Python
  double function_cpu = 0;  ///< us of its functions on cores
  double op_time = 0;       ///< median time of a function run's ops in us, beyond the cost of starting the ops
  /// the most elements that were begun and not yet taken, if the trace shows it
  std::optional<std::int64_t> elements_in_work;

  // By the clock, with what a replay works out by itself: waits for a core and for a thread.

  double crowded = 0;               ///< us of the runs of its function in `cycles` beyond what the items of these hold
  double run_time = 0;              ///< us from a call of `functions` to its end, the mean; 0: not known
  std::int64_t runs = 0;            ///< that `run_time` is the mean of
  std::int64_t runs_at_once = 0;    ///< of these, see usually_at_once()
  std::int64_t cycles_at_once = 0;  ///< of `cycles`, likewise
};

/// One step of the consumer: it takes an element, then does something else until it takes the next one.
struct ConsumerStep {
  Cycle cycle;
  Interval call;         ///< GetNext
  double gap = 0;        ///< us from the end of GetNext to the next one
  double busy = 0;       ///< us of the gap in which ops run on this host
  double core_time = 0;  ///< us of these ops, added up over threads
  double remaking = 0;   ///< us of the gap in which it destroys its iterator and makes the next one
  /// us of the call during which the previous step goes on: see ConsumerCycles::overlaps
  double beside = 0;
  double late = 0;                ///< us of the gap in which it waits for a core or for Python's lock
  double device = 0;              ///< us of the gap in which a device works; see find_device_time()
  double launching = 0;           ///< us of the gap in which a device pauses briefly before its next kernel
  IteratorId root = kNoIterator;  ///< root of the pipeline whose element it takes
  bool begins_iteration = false;  ///< the iterator was made anew: its buffers are empty
};

/// A consumer: one thread that takes elements, perhaps of several pipelines in turn.
struct ConsumerCycles {
  std::vector<ConsumerStep> steps;
  Picoseconds waited = 0;  ///< time in GetNext
  double rate = 0;         ///< steps a second
  /// Elements a second that the prefetch at the end of the pipeline made, if that is less than `rate`: the window began
  /// with full buffers.
  std::optional<double> made_rate;
  IteratorId root = kNoIterator;  ///< kNoIterator if it takes elements of several pipelines in turn
  double device_step = 0;  ///< us that the busiest device works for a step, including pauses too short for the host
  double computing = 0;    ///< us of that in which it computes
  /// True if GetNext runs on a thread of its own while the previous step goes on, as in a loop inside of a function.
  bool overlaps = false;
};

/// The effect of the input's Python functions on Python's lock: they compute and hold it, or they release it.
enum class PythonLock : std::uint8_t { unknown, held, released };

/// The cycles of one host in the first part of its window.
struct CycleSample {
  std::vector<CycleItem> items;
  std::vector<Stage> stages;
  std::vector<ConsumerCycles> consumers;  ///< the one that waits longest first; empty if nothing can be replayed
  /// Cores that tf.data may use. If the trace does not say it, the number of threads seen, which is a lower bound.
  std::int64_t cores = 1;
  bool knows_cores = true;
  bool has_too_many_events = false;   ///< the trace has more events than a model takes: nothing can be replayed
  std::int64_t pool_threads = 1;      ///< threads of the pool that runs functions
  double window = 0;                  ///< length of the sample in us
  double busy_cores = 0;              ///< average number of cores used by the input and by ops
  double cores_per_function = 1;      ///< including those that help it on other threads
  double python_beside_consumer = 0;  ///< share of the consumer's gaps in which a function of the input runs Python
  PythonLock python_lock = PythonLock::unknown;

  std::span<const CycleItem> items_of(const Cycle& cycle) const {
    return std::span(items).subspan(cycle.first, cycle.end - cycle.first);
  }
  bool cores_are_full() const { return knows_cores && busy_cores > 0.8 * static_cast<double>(cores); }
};

}  // namespace doctor
