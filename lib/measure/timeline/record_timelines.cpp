#include <set>

#include "measure/measure_passes.h"
#include "measure/timeline/timeline_recording.h"

namespace doctor {
namespace {

/// The calls of a root, in order of time: as PipelineMeasurement::calls.
std::vector<const RootCall*> calls_of_root(const IteratorForest& forest, IteratorId root) {
  std::vector<const RootCall*> calls;
  for (const RootCall& call : forest.root_calls) {
    if (call.root == root) calls.push_back(&call);
  }
  return calls;
}

std::vector<HeldTime> held_by(const std::vector<Segment>& segments) {
  std::map<std::pair<IteratorId, SegmentKind>, Picoseconds> times;
  for (const Segment& segment : segments) {
    times[{segment.iterator, segment.kind}] += segment.span.end - segment.span.start;
  }
  std::vector<HeldTime> held;
  held.reserve(times.size());
  for (const auto& [holder, time] : times) held.push_back({holder.first, holder.second, time});
  std::stable_sort(held.begin(), held.end(), [](const HeldTime& a, const HeldTime& b) { return a.time > b.time; });
  return held;
}

WindowCall record_call(const RootCall& call, std::size_t number, CriticalPath::Walker& walker) {
  const std::span<const Segment> walked = walker.attribute(call);
  const std::vector<Segment> segments(walked.begin(), walked.end());
  return {number, call.span, call.lane, held_by(segments), stretches_of(call.span, segments)};
}

/// Calls of other pipelines on the threads of these calls. Those that follow each other at once are one: an epoch of
/// another pipeline has thousands.
std::vector<OtherCall> other_calls(const IteratorForest& forest, const std::vector<const RootCall*>& calls,
                                   Interval window) {
  constexpr Picoseconds kPartsOfWindow = 1000;  // a picture shows no shorter pause
  std::set<LaneId> lanes;
  for (const RootCall* const call : calls) lanes.insert(call->lane);
  std::vector<OtherCall> others;
  for (const RootCall& call : forest.root_calls) {
    if (call.span.start >= window.end) break;
    if (call.span.end <= window.start || call.root == calls.front()->root || !lanes.contains(call.lane)) continue;
    const Interval span{std::max(call.span.start, window.start), std::min(call.span.end, window.end)};
    const bool goes_on = !others.empty() && others.back().root == call.root &&
                         (span.start - others.back().span.end) * kPartsOfWindow < window.end - window.start;
    if (goes_on) {
      others.back().span.end = std::max(others.back().span.end, span.end);
    } else {
      others.push_back({span, call.root});
    }
  }
  return others;
}

TimelineWindow record_window(const IteratorForest& forest, const ChosenWindow& chosen,
                             const std::vector<const RootCall*>& calls, CriticalPath::Walker& walker) {
  TimelineWindow window{chosen.kind, chosen.number, chosen.span, {}, chosen.calls_left_out, {}, {}, 0};
  window.other_calls = other_calls(forest, calls, chosen.span);
  for (const std::size_t call : chosen.calls) window.calls.push_back(record_call(*calls[call], call + 1, walker));
  return window;
}

}  // namespace

void record_timelines(const Trace& trace, const IteratorForest& forest, const CriticalPath& path,
                      const FunctionOwners& owners, const std::vector<bool>& waits, const CallRequest& request,
                      HostMeasurement& host) {
  CriticalPath::Walker walker(path);
  std::vector<LaneRequest> lanes;
  std::size_t pipeline_count = 0;
  for (PipelineMeasurement& pipeline : host.pipelines) {
    if (!is_requested(pipeline, request) || pipeline_count++ >= kMostTimelinePipelines) continue;
    const std::vector<const RootCall*> calls = calls_of_root(forest, pipeline.root);
    const std::vector<ChosenWindow> windows = choose_windows(host, pipeline, request);
    std::vector<bool> members(forest.iterators.size(), false);
    for (const IteratorId member : pipeline.members) members[index_of(member)] = true;
    for (const ChosenWindow& chosen : windows)
      pipeline.timelines.push_back(record_window(forest, chosen, calls, walker));
    for (std::size_t index = 0; index < windows.size(); ++index) {
      if (windows[index].has_lanes) lanes.push_back({windows[index].span, members, &pipeline.timelines[index]});
    }
  }
  collect_lanes(trace, forest, owners, waits, lanes);
}

}  // namespace doctor
