#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "compare/comparison_parts.h"
#include "compare/op_calls.h"
#include "compare/structure_changes.h"

namespace doctor {
namespace {

using OpTypes = std::set<std::string>;

/// Types of op that a recording of one side runs in the iterator's functions.
OpTypes ops_of_any(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices) {
  OpTypes ops;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) continue;
    for (const OpSummary& op : runs[recording].iterators[indices[recording]].function_ops) ops.insert(op.op);
  }
  return ops;
}

/// Whether both sides show what the function runs, in the same form of iterator: the ops of a map that TensorFlow fused
/// with a batch do not show.
bool show_functions(const AlignedIterator& iterator) {
  return iterator.base->kind == iterator.candidate->kind && !iterator.base->function_ops.empty();
}

/// An op that is called another number of times.
struct CallsOfOp {
  std::string op;
  OpCallsChange change;
  OpWork work;
  double added_share = 0;  ///< of the pipeline's work
};

/// Those that cost most first.
std::vector<CallsOfOp> changed_calls(const AlignedRuns& runs, const AlignedIterator& iterator,
                                     const ThresholdValues& thresholds) {
  OpTypes ops = ops_of_any(runs.base_runs, iterator.in_base);
  ops.merge(ops_of_any(runs.candidate_runs, iterator.in_candidate));
  std::vector<CallsOfOp> changed;
  for (const std::string& op : ops) {
    const std::optional<OpCallsChange> change = change_of_op_calls(runs, iterator, op, thresholds);
    if (!change) continue;
    const OpWork work = work_of_op(runs, iterator, op, *change);
    const double all = pipeline_work_us(*runs.base, work.time);
    changed.push_back({op, *change, work, all > 0 ? work.added_us() / all : 1});
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const CallsOfOp& a, const CallsOfOp& b) { return a.work.added_us() > b.work.added_us(); });
  return changed;
}

/// "DecodeJpeg runs 2x as often in Dataset.map: 8 -> 16 calls a step, +1.93 ms of work a step"
std::string describe(const CallsOfOp& one, const IteratorSummary& iterator) {
  const OpCallsChange& calls = one.change;
  const std::string unit = calls.is_by_step ? "a step" : "for each element";
  const std::string work = format_added_work(one.work.added_us());
  if (calls.before == 0) {
    return fmt::format("{} is new in the function of {}: {:.3g} calls {}, {}", one.op, iterator.words, calls.after,
                       unit, work);
  }
  if (calls.after == 0) {
    return fmt::format("{} is gone from the function of {}: it was called {:.3g} times {}, {}", one.op, iterator.words,
                       calls.before, unit, work);
  }
  const std::string often = calls.after > calls.before ? fmt::format("{:.3g}x as often", calls.after / calls.before)
                                                       : fmt::format("{:.3g}x less often", calls.before / calls.after);
  return fmt::format("{} runs {} in {}: {:.3g} -> {:.3g} calls {}, {}", one.op, often, iterator.words, calls.before,
                     calls.after, unit, work);
}

/// Whether what came is more work than is allowed, and clearly more than what went.
bool is_more_work(const std::vector<CallsOfOp>& changed, const ThresholdValues& thresholds) {
  double added = 0;
  double gone = 0;
  for (const CallsOfOp& one : changed) {
    if (!one.change.is_short) (one.added_share > 0 ? added : gone) += std::abs(one.added_share);
  }
  return added - gone > thresholds["max_extra_work"] && added > thresholds["exchanged_op_min_ratio"] * gone;
}

void compare_functions(const AlignedRuns& runs, const AlignedIterator& iterator, const ThresholdValues& thresholds,
                       std::vector<StructureChange>& changes) {
  const std::vector<CallsOfOp> changed = changed_calls(runs, iterator, thresholds);
  const bool is_worse = is_more_work(changed, thresholds);
  // Where no single op is too much, all of them together are.
  const double most = thresholds["max_extra_work"];
  const bool is_one_too_much = std::any_of(changed.begin(), changed.end(), [&](const CallsOfOp& one) {
    return !one.change.is_short && one.added_share > most;
  });
  for (const CallsOfOp& one : changed) {
    StructureChange change = {one.change.before == 0 ? ChangeKind::op_added : ChangeKind::op_calls_changed,
                              iterator.base->long_name, iterator.base->words, describe(one, *iterator.base)};
    change.is_certain = !one.change.is_short;
    if (one.change.is_short) change.message += "; TF records calls this short only now and then";
    change.is_worse = is_worse && one.added_share > (is_one_too_much ? most : 0);
    change.added_share = one.added_share;
    changes.push_back(std::move(change));
  }
}

}  // namespace

std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds) {
  if (!runs.show_iterators()) return {};
  std::vector<StructureChange> changes;
  for (const AlignedIterator& iterator : runs.iterators) {
    if (iterator.is_new() || iterator.is_gone() || !show_functions(iterator)) continue;
    compare_functions(runs, iterator, thresholds, changes);
  }
  return changes;
}

}  // namespace doctor
