#include "measure/function_costs.h"

#include <algorithm>

#include "base/intervals.h"

namespace doctor {
namespace {

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
