#include "measure/random_ops.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "tree/dataset_kind.h"

namespace doctor {
namespace {

using OpSets = std::vector<std::set<StringId>>;  ///< indexed by IteratorId
using OpsOfFunctions = std::unordered_map<std::uint64_t, std::set<StringId>>;

/// By the id of the function's run. Empty for nearly every trace, and found out by its names alone.
OpsOfFunctions random_ops_of_functions(const Trace& trace) {
  std::vector<bool> is_random(trace.strings.size());
  bool has_any = false;
  for (std::size_t index = 0; index < is_random.size(); ++index) {
    is_random[index] = is_random_op(trace.strings[static_cast<StringId>(index)]);
    has_any = has_any || is_random[index];
  }
  OpsOfFunctions ops;
  if (!has_any) return ops;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      const OpCall& op = lane.ops[index];
      if (is_random[index_of(op.type)] && op.function_id.value() != 0) ops[op.function_id.value()].insert(op.type);
    }
  }
  return ops;
}

void add(const OpsOfFunctions& ops, const FunctionRun& run, std::set<StringId>& to) {
  const auto found = ops.find(run.function_id.value());
  if (found != ops.end()) to.insert(found->second.begin(), found->second.end());
}

/// Runs inside of an iterator's call are its own; those outside are told by the element that they make.
void add_told(const Trace& trace, const IteratorForest& forest, const OpsOfFunctions& ops, OpSets& sets,
              std::vector<bool>& is_told) {
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      if (run.row == kNoRow) continue;
      add(ops, run, sets[index_of(forest.iterator_of(lane.iterator_calls[run.row]))]);
    }
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      const ProducedElement& produced = lane.produced[index];
      if (produced.row == kNoRow || produced.last_run == kNoRow) continue;
      const IteratorId maker = forest[forest.iterator_of(lane.iterator_calls[produced.row])].parent;
      if (maker == kNoIterator) continue;
      is_told[index_of(maker)] = true;
      add(ops, lane.function_runs[produced.last_run], sets[index_of(maker)]);
    }
  }
}

void add_untold(const Trace& trace, const IteratorForest& forest, const OpsOfFunctions& ops,
                const std::vector<bool>& is_told, OpSets& sets) {
  std::set<StringId> loose;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      if (lane.function_runs[index].row == kNoRow) add(ops, lane.function_runs[index], loose);
    }
  }
  for (std::size_t index = 0; index < sets.size(); ++index) {
    const std::string_view kind = without_version(forest.iterators[index].short_name);
    const bool calls_function = kind.ends_with("Map") || kind.starts_with("MapAnd") || kind == "ParallelFilter";
    if (forest.iterators[index].is_async && calls_function && !is_told[index]) {
      sets[index].insert(loose.begin(), loose.end());
    }
  }
}

}  // namespace

bool is_random_op(std::string_view op_type) {
  static constexpr std::array<std::string_view, 5> kParts = {"Random", "Multinomial", "Distorted", "Crop",
                                                             "ProjectiveTransform"};
  return op_type.starts_with("Adjust") || std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return op_type.find(part) != std::string_view::npos;
         });
}

std::vector<std::vector<std::string>> random_ops_of(const Trace& trace, const IteratorForest& forest) {
  std::vector<std::vector<std::string>> names(forest.iterators.size());
  const OpsOfFunctions ops = random_ops_of_functions(trace);
  if (ops.empty()) return names;
  OpSets sets(forest.iterators.size());
  std::vector<bool> is_told(forest.iterators.size());
  add_told(trace, forest, ops, sets, is_told);
  add_untold(trace, forest, ops, is_told, sets);
  for (std::size_t index = 0; index < sets.size(); ++index) {
    for (const StringId op : sets[index]) names[index].emplace_back(trace.strings[op]);
    std::sort(names[index].begin(), names[index].end());
  }
  return names;
}

}  // namespace doctor
