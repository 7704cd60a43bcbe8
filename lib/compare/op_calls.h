#pragma once

#include <optional>
#include <string_view>

#include "compare/aligned_runs.h"
#include "compare/step_model.h"
#include "diagnose/threshold.h"

namespace doctor {

/// A change of the number of an op's calls for the same elements.
struct OpCallsChange {
  double before = 0;  ///< calls in one run of the function, for one element; 0: the base does not call it
  double after = 0;   ///< 0: the candidate does not call it any more
  /// `before` and `after` are calls a step, because a step makes as many elements on both sides
  bool is_by_step = false;
  /// the calls that one side lacks may have been too short for TF to record them, see the threshold short_call
  bool is_short = false;
};

/// The work of an op for one step on each side, in microseconds: its calls times the duration of one, in the recording
/// that represents the side.
struct OpWork {
  double before_us = 0;
  double after_us = 0;
  CallTime time = CallTime::undisturbed;

  double added_us() const { return after_us - before_us; }
};

/// Tests whether the function of an iterator that both sides have calls the op another number of times. One recording a
/// side is enough, because calls hardly vary from run to run. The quartiles of both sides must not overlap. An op that
/// one side does not call must be called so often on the other that its absence cannot be chance. If the
/// number depends on the element, or was stored by an earlier version, the means must differ by more than the threshold
/// and by more than chance explains, in all recordings. nullopt if that is not shown, or if a call of the iterator
/// makes other elements.
std::optional<OpCallsChange> change_of_op_calls(const AlignedRuns& runs, const AlignedIterator& iterator,
                                                std::string_view op, const ThresholdValues& thresholds);

/// The cost of a change of calls. If the mean of a call shows more work and the 25th percentile does not, because the
/// added calls are small ones, the mean counts.
OpWork work_of_op(const AlignedRuns& runs, const AlignedIterator& iterator, std::string_view op,
                  const OpCallsChange& change);

/// The op of a function; null if it is not called.
const OpSummary* find_function_op(const IteratorSummary& iterator, std::string_view op);

}  // namespace doctor
