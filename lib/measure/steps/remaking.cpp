#include "base/intervals.h"
#include "measure/cycles/cycle_recording.h"
#include "measure/measure_passes.h"

namespace doctor {
namespace {

const PipelineMaking* making_of(const Trace& trace, const RootCall& call) {
  if (!call.has_rows()) return nullptr;
  const std::uint32_t making = trace.instances[call_of(trace, call.first()).instance].making;
  return making == kNoMaking ? nullptr : &trace.makings[making];
}

/// Between two calls of a thread at most one release is that of the iterator: the longest. The others are of tensors.
std::vector<Interval> releases_between(const Trace& trace, LaneId lane, std::span<const Interval> calls) {
  std::vector<Interval> releases;
  auto release = trace.releases.begin();
  for (std::size_t index = 0; index + 1 < calls.size(); ++index) {
    Interval longest;
    for (; release != trace.releases.end() && release->span.start < calls[index + 1].start; ++release) {
      const bool is_between = release->lane == lane && release->span.start >= calls[index].end;
      if (is_between && release->span.end - release->span.start > longest.end - longest.start) longest = release->span;
    }
    longest.end = std::min(longest.end, calls[index + 1].start);
    if (longest.end > longest.start) releases.push_back(longest);
  }
  return releases;
}

/// A replay of fewer steps has no rate.
constexpr std::size_t kFewestCalls = 8;

}  // namespace

void find_remaking(const Trace& trace, const IteratorForest& forest, std::span<const std::size_t> calls,
                   PipelineMeasurement& pipeline) {
  constexpr std::size_t kFewestTimes = 3;            // a loop and not a preview
  constexpr std::size_t kMostCallsOfAShortLife = 2;  // a loop of a step or two, as by next(iter(dataset))
  const std::vector<std::size_t>& starts = pipeline.iteration_starts;
  if (starts.size() + 1 < kFewestTimes) return;
  RemadeIterator remade;
  std::size_t short_lives = 0;
  Picoseconds begin = pipeline.calls.front().start;
  for (std::size_t life = 0; life <= starts.size(); ++life) {
    const std::size_t first = life == 0 ? 0 : starts[life - 1];
    const std::size_t last = life == starts.size() ? pipeline.calls.size() : starts[life];
    if (last - first <= kMostCallsOfAShortLife) ++short_lives;
    const PipelineMaking* const making = making_of(trace, forest.root_calls[calls[first]]);
    if (making == nullptr) continue;
    begin = std::min(begin, making->span.start);
    if (first > 0) remade.between_calls.push_back(making->span);
    remade.making += making->span.end - making->span.start;
    remade.first_calls += pipeline.calls[first].end - pipeline.calls[first].start;
    ++remade.times;
  }
  if (2 * short_lives <= starts.size() + 1 || remade.times < kFewestTimes) return;
  remade.span = pipeline.calls.back().end - begin;
  const LaneId lane = forest.root_calls[calls.front()].lane;
  const std::vector<Interval> releases = releases_between(trace, lane, pipeline.calls);
  remade.releasing = total_length(releases);
  remade.between_calls.insert(remade.between_calls.end(), releases.begin(), releases.end());
  remade.between_calls = merged(std::move(remade.between_calls));
  pipeline.remade = std::move(remade);
  pipeline.iteration_starts.clear();
}

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
