#include "compare/function_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

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
    if (wanted.contains(op.op)) work += to_microseconds(op.durations.total);
  }
  return summary.calls == 0 ? 0 : work / static_cast<double>(summary.calls) * calls_per_step(run, iterator);
}

/// Whether both sides show what the function runs, in the same form of iterator: the ops of a map that TensorFlow fused
/// with a batch do not show.
bool show_functions(const AlignedIterator& iterator) {
  return iterator.base->kind == iterator.candidate->kind && !iterator.base->function_ops.empty();
}

void compare_functions(const AlignedRuns& runs, const AlignedIterator& iterator, double all_work,
                       const ThresholdValues& thresholds, std::vector<StructureChange>& changes) {
  const FunctionSide base = {runs.base_runs, iterator.in_base};
  const FunctionSide candidate = {runs.candidate_runs, iterator.in_candidate};
  const OpTypes added = only_in(candidate, base);
  const double gone_work = op_work_us(*runs.base, iterator.base_index, only_in(base, candidate));
  const double added_work = op_work_us(*runs.candidate, iterator.candidate_index, added);
  const bool is_more_work = added_work - gone_work > (thresholds["min_ratio"] - 1) * all_work &&
                            added_work > thresholds["exchanged_op_min_ratio"] * gone_work;
  for (const std::string& op : added) {
    const double work = op_work_us(*runs.candidate, iterator.candidate_index, {op});
    if (work <= thresholds["min_share"] * all_work) continue;
    changes.push_back({ChangeKind::op_added, iterator.base->long_name, iterator.base->words,
                       fmt::format("the op {} is new in the function of {}, {:.1f} us of work a step", op,
                                   iterator.base->words, work),
                       /*is_certain=*/true, is_more_work && has_like_steps(runs, iterator, iterator)});
  }
}

}  // namespace

std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds) {
  if (!runs.show_iterators()) return {};
  double all_work = 0;
  for (std::size_t index = 0; index < runs.base->iterators.size(); ++index) {
    all_work += work_per_step_us(*runs.base, index);
  }
  std::vector<StructureChange> changes;
  for (const AlignedIterator& iterator : runs.iterators) {
    if (iterator.is_new() || iterator.is_gone() || !show_functions(iterator)) continue;
    compare_functions(runs, iterator, all_work, thresholds, changes);
  }
  return changes;
}

}  // namespace doctor
