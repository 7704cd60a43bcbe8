#pragma once

#include "base/time.h"
#include "measure/cycles/cycles.h"
#include "measure/functions/function_owners.h"
#include "measure/functions/function_types.h"
#include "measure/functions/op_kind.h"
#include "measure/measurements.h"
#include "profile/device_profile.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The largest number of iterator calls and functions that a model replays, so that its time is bounded on every trace.
inline constexpr std::size_t kMostSampleRows = 6'000;
/// The number of rows that a sample may have if it would otherwise have too few steps for a replay: a batch of 4,096
/// elements has some 12,000.
inline constexpr std::size_t kRowsForAFewSteps = 96'000;

/// The end of the sample that a model replays. It is at a call of a consumer, before which at most kMostSampleRows
/// iterator calls and functions begin, or kRowsForAFewSteps if the former would be too few steps. It is not later than
/// the last executor span that is kept.
Picoseconds end_of_sample(const Trace& trace, const IteratorForest& forest);

/// The steps of the consumers that take the elements of `calls`, with the work of devices meanwhile. The calls are
/// sorted by start, and `cycle_of(call)` is the cycle of each. A thread that takes elements of several pipelines in
/// turn is one consumer; pipelines whose calls overlap have one each. The gap of the last step is not known, and a gap
/// may be untypical of the steady state: both are replaced by the median.
std::vector<ConsumerCycles> consumers_of(const Trace& trace, const FunctionCosts& functions,
                                         const std::vector<OpKind>& op_kinds, const std::vector<const RootCall*>& calls,
                                         const DeviceProfile& devices,
                                         const std::function<Cycle(const RootCall&)>& cycle_of);

/// The share of the consumer's gaps in which a function of the input runs Python.
double python_share_of_gaps(const ConsumerCycles& consumer, const FunctionCosts& functions);

/// Finds out whether the input's Python functions keep Python's lock. A call from Python into TensorFlow takes the lock
/// back when its work is done: within microseconds if a function of the input sleeps or works without the lock;
/// otherwise only when that function is done, or Python's switch interval of 5 ms is over. `unknown` with fewer than
/// three such calls.
PythonLock find_python_lock(const Trace& trace, const FunctionCosts& functions, Picoseconds until);

/// Sets how long devices work on the steps of the only consumer: in each gap, and the busiest device for an average
/// step. Does nothing if the trace does not show when devices compute.
void find_device_time(const DeviceProfile& devices, ConsumerCycles& consumer);

/// The cost of recording one event, in us; measured 0.5 to 1.1.
inline constexpr double kEventCost = 0.8;

/// A run of a parallel iterator's function.
struct FunctionOfElement {
  Picoseconds start = 0;
  std::uint64_t function_id = 0;
  std::uint64_t element_id = 0;
};

/// A call of a parallel iterator in a complete cycle.
struct TakenElement {
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint64_t element_id = 0;
};

/// The costs of the runs of a stage's function, without FunctionCost::calling. If most elements are known, they are in
/// the order in which complete cycles took the elements, and unknown ones cost the median. In any other order a rare
/// stall would move to another place within its batch, and its wait would seem to be hidden. Else they are in order of
/// start. All runs are of functions that `functions` has.
std::vector<FunctionCost> costs_in_order(std::vector<FunctionOfElement> runs, std::vector<TakenElement> taken,
                                         const FunctionCosts& functions);

/// The cost of calling the function besides its work, in us. It is the lower quartile, since some calls wait for a
/// core, too. 0 if no run says.
double calling_time(const std::vector<FunctionOfElement>& runs, const FunctionCosts& functions);

/// The largest number of elements that were being made or waited to be taken at one time; 0 if none can be followed.
std::int64_t most_elements_in_work(const std::vector<FunctionOfElement>& runs, const std::vector<TakenElement>& taken);

/// How many of these go on at once: the most of which that is so for a twentieth of the time in which any does. Events
/// that overlap by the moment that recording them takes are no more at once. 0 where there are none.
std::int64_t usually_at_once(const std::vector<Interval>& times);

/// From the calls of a parallel iterator's function to the ends of its runs, as far as the trace shows them.
std::vector<Interval> times_of_runs(const std::vector<FunctionOfElement>& runs, const FunctionCosts& functions);

/// The cycles of the host's pipelines, from the beginning of the window to a call of a consumer before which at most as
/// many iterator calls and functions began as end_of_sample() allows. `host` has the iterators and pipelines. There are
/// no consumers if the lanes of the trace are not threads, or if it shows fewer than two calls, or no function although
/// iterators run some.
CycleSample record_cycles(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                          const HostMeasurement& host);

}  // namespace doctor
