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

/// The recordings of one side, and the position of the iterator in each.
struct FunctionSide {
  std::span<const RunSummary> runs;
  const std::vector<std::size_t>& indices;
};

OpTypes ops_of_any(const FunctionSide& side) {
  OpTypes ops;
  for (std::size_t recording = 0; recording < side.runs.size(); ++recording) {
    if (side.indices[recording] == kNoIndex) continue;
    for (const OpSummary& op : side.runs[recording].iterators[side.indices[recording]].function_ops) ops.insert(op.op);
  }
  return ops;
}

/// Empty where one of the recordings lacks the iterator.
OpTypes ops_of_all(const FunctionSide& side) {
  OpTypes common = ops_of_any(side);
  for (std::size_t recording = 0; recording < side.runs.size(); ++recording) {
    if (side.indices[recording] == kNoIndex) return {};
    const std::vector<OpSummary>& ops = side.runs[recording].iterators[side.indices[recording]].function_ops;
    std::erase_if(common, [&](const std::string& name) {
      return std::none_of(ops.begin(), ops.end(), [&](const OpSummary& op) { return op.op == name; });
    });
  }
  return common;
}

/// The ops that every recording of one side has and none of the other.
OpTypes only_in(const FunctionSide& side, const FunctionSide& other) {
  OpTypes ops = ops_of_all(side);
  for (const std::string& op : ops_of_any(other)) ops.erase(op);
  return ops;
}

/// Microseconds for one call of the consumer.
double op_work_us(const RunSummary& run, std::size_t iterator, const OpTypes& wanted) {
  const IteratorSummary& summary = run.iterators[iterator];
  double work = 0;
  for (const OpSummary& op : summary.function_ops) {
    if (wanted.contains(op.op)) work += work_us(op.durations);
  }
  return summary.calls == 0 ? 0 : work / static_cast<double>(summary.calls) * calls_per_step(run, iterator);
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
};

/// Those that cost most first.
std::vector<CallsOfOp> changed_calls(const AlignedRuns& runs, const AlignedIterator& iterator, const OpTypes& ops,
                                     const ThresholdValues& thresholds) {
  std::vector<CallsOfOp> changed;
  for (const std::string& op : ops) {
    const std::optional<OpCallsChange> change = change_of_op_calls(runs, iterator, op, thresholds);
    if (change) changed.push_back({op, *change, work_of_op(runs, iterator, op, *change)});
  }
  std::stable_sort(changed.begin(), changed.end(),
                   [](const CallsOfOp& a, const CallsOfOp& b) { return a.work.added_us() > b.work.added_us(); });
  return changed;
}

/// "8 -> 16 calls a step"
std::string words_of(const OpCallsChange& change) {
  return fmt::format("{:.3g} -> {:.3g} calls {}", change.before, change.after,
                     change.is_by_step ? "a step" : "for each element");
}

/// "DecodeJpeg: 8 -> 16 calls a step in your .map(), 1.93 ms more work a step"
std::string describe(const CallsOfOp& one, const IteratorSummary& iterator) {
  const double added = one.work.added_us();
  return fmt::format("{}: {} in {}, {} {} work a step", one.op, words_of(one.change), iterator.words,
                     format_work(std::abs(added)), added < 0 ? "less" : "more");
}

void compare_functions(const AlignedRuns& runs, const AlignedIterator& iterator, double all_work,
                       const ThresholdValues& thresholds, std::vector<StructureChange>& changes) {
  const FunctionSide base = {runs.base_runs, iterator.in_base};
  const FunctionSide candidate = {runs.candidate_runs, iterator.in_candidate};
  const OpTypes added = only_in(candidate, base);
  const OpTypes gone = only_in(base, candidate);
  OpTypes others = ops_of_any(base);
  others.merge(ops_of_any(candidate));
  for (const OpTypes& known : {added, gone}) std::erase_if(others, [&](const auto& op) { return known.contains(op); });
  const std::vector<CallsOfOp> changed = changed_calls(runs, iterator, others, thresholds);
  double gone_work = op_work_us(*runs.base, iterator.base_index, gone);
  double added_work = op_work_us(*runs.candidate, iterator.candidate_index, added);
  for (const CallsOfOp& one : changed)
    (one.work.added_us() > 0 ? added_work : gone_work) += std::abs(one.work.added_us());
  const bool is_more_work = added_work - gone_work > (thresholds["min_ratio"] - 1) * all_work &&
                            added_work > thresholds["exchanged_op_min_ratio"] * gone_work;
  const double least_work = thresholds["min_share"] * all_work;
  for (const CallsOfOp& one : changed) {
    if (std::abs(one.work.added_us()) <= least_work) continue;
    const bool is_worse = is_more_work && one.work.added_us() > 0;
    changes.push_back({ChangeKind::op_calls_changed, iterator.base->long_name, iterator.base->words,
                       describe(one, *iterator.base), /*is_certain=*/true, is_worse});
  }
  for (const std::string& op : added) {
    const double work = op_work_us(*runs.candidate, iterator.candidate_index, {op});
    if (work <= least_work) continue;
    changes.push_back({ChangeKind::op_added, iterator.base->long_name, iterator.base->words,
                       fmt::format("the op {} is new in the function of {}, {} of work a step", op,
                                   iterator.base->words, format_work(work)),
                       /*is_certain=*/true, is_more_work && has_like_steps(runs, iterator, iterator)});
  }
}

}  // namespace

std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds) {
  if (!runs.show_iterators()) return {};
  const double all_work = all_work_us(*runs.base);
  std::vector<StructureChange> changes;
  for (const AlignedIterator& iterator : runs.iterators) {
    if (iterator.is_new() || iterator.is_gone() || !show_functions(iterator)) continue;
    compare_functions(runs, iterator, all_work, thresholds, changes);
  }
  return changes;
}

}  // namespace doctor
