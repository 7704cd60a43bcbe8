#include <algorithm>

#include "measure/cycle_recording.h"

namespace doctor {
namespace {

/// A replay of fewer steps has no rate.
constexpr std::size_t kFewestCalls = 8;

}  // namespace

Picoseconds end_of_sample(const Trace& trace, const IteratorForest& forest) {
  Picoseconds end = trace.window.end + 1;
  for (const Lane& lane : trace.lanes) {
    if (lane.executor_spans.size() < kMostExecutorSpans) continue;
    end = std::min(end, lane.executor_spans.back().span.start());
  }
  const auto rows_before = [&](Picoseconds time) {
    const auto is_before = [&](const auto& row) { return row.span.start() < time; };
    std::size_t rows = 0;
    for (const Lane& lane : trace.lanes) {
      rows += lane.iterator_calls.partition_point(0, is_before) + lane.function_runs.partition_point(0, is_before);
    }
    return rows;
  };
  if (rows_before(end) <= kMostSampleRows) return end;
  const auto calls_within = [&](std::size_t rows) {
    const auto first_too_late =
        std::partition_point(forest.root_calls.begin(), forest.root_calls.end(),
                             [&](const RootCall& call) { return rows_before(call.span.start) <= rows; });
    return static_cast<std::size_t>(first_too_late - forest.root_calls.begin());
  };
  std::size_t calls = calls_within(kMostSampleRows);
  if (calls < kFewestCalls) calls = std::min(kFewestCalls, calls_within(kRowsForAFewSteps));
  if (calls == 0) return trace.window.start;
  return std::min(end, forest.root_calls[calls - 1].span.start);
}

}  // namespace doctor
