#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace doctor {

// What the threads of the pipelines did, element by element and in order: what a model of them replays. Times are in
// microseconds: a model needs no exact sums.

/// Index into CycleSample::stages, and that of the iterator in HostMeasurement::iterators.
using StageIndex = std::uint32_t;
inline constexpr StageIndex kNoStage = std::numeric_limits<StageIndex>::max();

/// A piece of what a thread does.
struct CycleItem {
  enum class Kind : std::uint8_t {
    work,      ///< of the iterator itself
    function,  ///< it runs the user's function
    pull,      ///< it takes an element that other threads make: of an asynchronous iterator, or of another pipeline
    enter,     ///< a call of the iterator begins
    leave,     ///< it ends
    outside,   ///< of the consumer: in GetNext, but in no iterator
  };
  Kind kind = Kind::work;
  StageIndex stage = kNoStage;
  float cpu = 0;      ///< us that need a core
  float wait = 0;     ///< us that need none: sleeping, Python, input and output
  float tracing = 0;  ///< of `cpu`: us that recording its events took
  float cores = 1;    ///< that it uses while it needs one: an op may spread over several threads
};

/// Items [first, end) of CycleSample::items: a thread makes one element.
struct Cycle {
  Picoseconds start = 0;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// What one run of a parallel iterator's function costs.
struct FunctionCost {
  float cpu = 0;      ///< us
  float python = 0;   ///< us in Python: computing, sleeping or waiting for its lock
  float tracing = 0;  ///< us of `cpu` that recording its events took
  /// us from the call of the function to its end in which nothing of it ran: threads had to wake up, or it waited.
  float calling = 0;
};

/// One iterator.
struct Stage {
  StageIndex parent = kNoStage;
  bool is_async = false;       ///< threads of its own make its elements
  StageIndex link = kNoStage;  ///< it takes its elements from this pipeline: on a device, or of the tf.data service
  std::vector<Cycle> cycles;   ///< of the threads that make elements for it, in order of start
  /// Of the elements in the order in which they were taken where the trace says so, else in that of their runs.
  std::vector<FunctionCost> functions;
  double python = 0;        ///< us of its functions in Python
  double function_cpu = 0;  ///< us of its functions on cores
  double op_time = 0;       ///< us of the ops of a run of its function, the median, beyond what starting an op takes
  std::optional<std::int64_t> elements_in_work;  ///< begun and not yet taken, at most, where the trace shows it

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
  Interval call;                  ///< GetNext
  double gap = 0;                 ///< us from the end of GetNext to the next one
  double busy = 0;                ///< us of that in which ops run on this host
  double core_time = 0;           ///< us of these ops, added up over threads
  double remaking = 0;            ///< us of the gap in which it lets go of its iterator and makes the next one
  double beside = 0;              ///< us of the call in which the step before goes on: see ConsumerCycles::overlaps
  double late = 0;                ///< us of the gap in which it waits for a core, or for Python's lock
  double device = 0;              ///< us of the gap in which a device works; see find_device_time()
  double launching = 0;           ///< us of the gap in which a device waits a moment for its next kernel
  IteratorId root = kNoIterator;  ///< of the pipeline that it takes the element of
  bool begins_iteration = false;  ///< of an iterator that was made anew: its buffers are empty
};

/// Who takes elements: one thread, perhaps of several pipelines in turn.
struct ConsumerCycles {
  std::vector<ConsumerStep> steps;
  Picoseconds waited = 0;  ///< in GetNext
  double rate = 0;         ///< steps a second
  /// Elements a second that the prefetch at the end of the pipeline made, where that is less: the window began with
  /// full buffers.
  std::optional<double> made_rate;
  IteratorId root = kNoIterator;  ///< kNoIterator if it takes elements of several pipelines in turn
  double device_step = 0;  ///< us that the busiest device works for a step, pauses too short for the host included
  double computing = 0;    ///< us of that in which it computes
  /// GetNext runs on a thread of its own while the step before goes on, as in a loop that is inside of a function.
  bool overlaps = false;
};

/// Whether Python functions of the input compute, and so keep Python's lock from all others, or let go of it.
enum class PythonLock : std::uint8_t { unknown, held, released };

/// The cycles of one host in the first part of its window.
struct CycleSample {
  std::vector<CycleItem> items;
  std::vector<Stage> stages;
  std::vector<ConsumerCycles> consumers;  ///< the one that waits longest first; empty where nothing can be replayed
  /// That tf.data may use. Where the trace does not say it, as many as threads were seen: at least so many.
  std::int64_t cores = 1;
  bool knows_cores = true;
  bool has_too_many_events = false;   ///< the trace has more than a model takes: nothing can be replayed
  std::int64_t pool_threads = 1;      ///< that run functions
  double window = 0;                  ///< us that the sample is of
  double busy_cores = 0;              ///< on average, by the input and by ops
  double cores_per_function = 1;      ///< what helps it on other threads included
  double python_beside_consumer = 0;  ///< share of the consumer's gaps in which a function of the input runs Python
  PythonLock python_lock = PythonLock::unknown;

  std::span<const CycleItem> items_of(const Cycle& cycle) const {
    return std::span(items).subspan(cycle.first, cycle.end - cycle.first);
  }
  bool cores_are_full() const { return knows_cores && busy_cores > 0.8 * static_cast<double>(cores); }
};

}  // namespace doctor
