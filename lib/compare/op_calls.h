#pragma once

#include <optional>
#include <string_view>

#include "compare/aligned_runs.h"
#include "diagnose/threshold.h"

namespace doctor {

/// An op is called more often, or less often, for the same elements.
struct OpCallsChange {
  double before = 0;  ///< calls in one run of the function, for one element; 0: the base does not call it
  double after = 0;
  bool is_by_step = false;  ///< `before` and `after` are calls a step, for a step makes as many elements on both sides
};

/// Microseconds of work of an op for one step on each side: its calls times what one takes where nothing disturbs it
/// (the 25th percentile), as of the recording that represents the side.
struct OpWork {
  double before_us = 0;
  double after_us = 0;

  double added_us() const { return after_us - before_us; }
};

/// Whether the function of an iterator that both sides have calls the op another number of times, from one recording a
/// side on. Calls hardly vary from run to run: the quartiles of both sides must be apart, or, where the number depends
/// on the element and in what earlier versions stored, the means by more than the threshold and by more than chance
/// explains, in all recordings. nullopt: they do not show that, or a call of the iterator makes other elements.
std::optional<OpCallsChange> change_of_op_calls(const AlignedRuns& runs, const AlignedIterator& iterator,
                                                std::string_view op, const ThresholdValues& thresholds);

/// What a change of calls costs. Where the mean of a call says that there is more work and the 25th percentile does
/// not, because the calls that were added are small ones, the mean counts.
OpWork work_of_op(const AlignedRuns& runs, const AlignedIterator& iterator, std::string_view op,
                  const OpCallsChange& change);

/// The op of a function; null where it is not called.
const OpSummary* find_function_op(const IteratorSummary& iterator, std::string_view op);

}  // namespace doctor
