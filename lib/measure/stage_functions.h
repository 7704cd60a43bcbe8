#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "measure/cycles.h"
#include "measure/function_costs.h"

namespace doctor {

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

}  // namespace doctor
