#include "measure/functions/function_types.h"

#include "base/intervals.h"

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

/// What starting an op takes, in us: what is left of it grows with the elements that it works on.
constexpr double kOpStart = 1;
/// The same of an op that parses a record: 9 to 24 us were measured for a record of 16 small features, of which 5.5 us
/// are left for each in a batch.
constexpr double kParserStart = 10;
/// The most that a call takes besides its ops, in us: 20 to 50 were measured of functions with next to none. What a
/// function takes beyond that is work, also where no op is recorded: ops of a few us are not, and some traces do not
/// say whose an op is.
constexpr double kMostOfCall = 50;

/// Events of a run besides those nested in the executor's span: the span, and those that hand it to a thread of the
/// pool.
constexpr std::uint32_t kEventsAround = 4;

void add_executors(const Lane& lane, FunctionCosts& costs) {
  for (std::size_t index = 0; index < lane.executor_spans.size(); ++index) {
    const ExecutorSpan& span = lane.executor_spans[index];
    const auto found = costs.by_id.find(span.function_id.value());
    if (found == costs.by_id.end()) continue;
    found->second.cpu += to_microseconds(span.span.duration());
    found->second.events += span.event_count + kEventsAround;
    ++found->second.spans;
    found->second.end = std::max(found->second.end, span.span.end());
  }
}

void add_ops(const Lane& lane, const std::vector<OpKind>& op_kinds, Picoseconds until, FunctionCosts& costs) {
  for (std::size_t index = 0; index < lane.ops.size(); ++index) {
    const OpCall& op = lane.ops[index];
    if (op.span.start() >= until) break;
    const OpKind kind = op_kinds[index_of(op.type)];
    if (op.function_id.value() == 0 || kind == OpKind::wrapper) continue;
    const auto found = costs.by_id.find(op.function_id.value());
    if (found == costs.by_id.end()) continue;
    const double start = kind == OpKind::parser ? kParserStart : kOpStart;
    found->second.op_time += std::max(0.0, to_microseconds(op.span.duration()) - start);
    ++found->second.ops;
    if (kind != OpKind::python) continue;
    found->second.python += to_microseconds(op.span.duration());
    costs.python.push_back({op.span.start(), op.span.end()});
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

Picoseconds time_of(std::span<const FunctionOp> ops) {
  return time_of(ops, [](std::string_view) { return true; });
}

Picoseconds time_of(std::span<const FunctionOp> ops, bool (*is_one)(std::string_view op_type)) {
  Picoseconds time = 0;
  for (const FunctionOp& op : ops) time += is_one(op.op) ? op.self : 0;
  return time;
}

bool are_mostly_random(std::span<const FunctionOp> ops) {
  const Picoseconds all = time_of(ops);
  return all > 0 && 2 * time_of(ops, is_random_op) >= all;
}

const FunctionEvents* FunctionCosts::find(std::uint64_t function_id) const {
  const auto found = by_id.find(function_id);
  return found == by_id.end() || found->second.spans == 0 ? nullptr : &found->second;
}

FunctionCosts add_up_functions(const Trace& trace, const std::vector<OpKind>& op_kinds, Picoseconds until) {
  FunctionCosts costs;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      if (run.span.start() >= until) break;
      if (run.function_id.value() != 0) costs.by_id.try_emplace(run.function_id.value());
    }
  }
  for (const Lane& lane : trace.lanes) {
    add_executors(lane, costs);
    add_ops(lane, op_kinds, until, costs);
  }
  for (auto& [id, events] : costs.by_id) {
    events.cpu = std::max(0.0, events.cpu - events.python);
    if (events.ops == 0) events.op_time = std::max(0.0, events.cpu - kMostOfCall);
  }
  costs.python = merged(std::move(costs.python));
  return costs;
}

}  // namespace doctor
