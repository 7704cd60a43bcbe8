#include "measure/function_types.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "measure/op_kind.h"

namespace doctor {
namespace {

/// An iterator and a type of op, as one number.
std::uint64_t key_of(IteratorId iterator, StringId type) {
  return (std::uint64_t{index_of(iterator)} << 32U) | index_of(type);
}

/// Time of threads in the ops of each iterator's functions, by key_of(). Neighbouring ops are mostly of few types, but
/// of several iterators' functions: a hash table it is.
std::unordered_map<std::uint64_t, Picoseconds> add_up_types(const Trace& trace, const FunctionOwners& owners) {
  std::unordered_map<std::uint64_t, Picoseconds> times;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const ChunkedVector<OpCall>& calls = trace.lanes[lane].ops;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      const IteratorId owner = owners.of_op(lane, index);
      if (owner == kNoIterator) continue;
      const OpCall& call = calls[index];
      times[key_of(owner, call.type)] += call.span.end() - call.span.start();
    }
  }
  return times;
}

}  // namespace

bool is_random_op(std::string_view op_type) {
  static constexpr std::array<std::string_view, 5> kParts = {"Random", "Multinomial", "Distorted", "Crop",
                                                             "ProjectiveTransform"};
  return op_type.starts_with("Adjust") || std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return op_type.find(part) != std::string_view::npos;
         });
}

std::vector<FunctionTypes> function_types_of(const Trace& trace, const IteratorForest& forest,
                                             const FunctionOwners& owners) {
  std::vector<FunctionTypes> types(forest.iterators.size());
  for (const auto& [key, time] : add_up_types(trace, owners)) {
    const auto type = static_cast<StringId>(key & 0xffff'ffffU);
    types[key >> 32U].ops.push_back({std::string(trace.strings[type]), time});
  }
  for (FunctionTypes& of : types) {
    std::sort(of.ops.begin(), of.ops.end(), [](const FunctionOp& a, const FunctionOp& b) {
      return a.self != b.self ? a.self > b.self : a.op < b.op;
    });
    for (const FunctionOp& op : of.ops) {
      if (is_random_op(op.op)) of.random.push_back(op.op);
    }
    std::sort(of.random.begin(), of.random.end());
  }
  return types;
}

bool are_mostly_random(std::span<const FunctionOp> ops) {
  Picoseconds all = 0;
  Picoseconds random = 0;
  for (const FunctionOp& op : ops) {
    all += op.self;
    random += is_random_op(op.op) ? op.self : 0;
  }
  return all > 0 && 2 * random >= all;
}

Picoseconds time_of_parsers(std::span<const FunctionOp> ops) {
  Picoseconds time = 0;
  for (const FunctionOp& op : ops) time += op_kind_of(op.op) == OpKind::parser ? op.self : 0;
  return time;
}

}  // namespace doctor
