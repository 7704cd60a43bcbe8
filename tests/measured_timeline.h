// Timelines of written traces.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/intervals.h"
#include "measure/functions/function_owners.h"
#include "measure/measure.h"
#include "measure/measure_passes.h"
#include "measure/timeline/timeline_recording.h"
#include "pipeline.h"
#include "recorded_json.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "tree/iterator_forest.h"

namespace doctor::timeline_test {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

inline Analysis analyze_for(const ShowOptions& shown, const std::string& file) {
  const TraceNeeds options = kTimelinePage.needs(shown);
  return diagnose_files(std::vector<std::string>{file}, {.needs = options});
}

inline HostMeasurement measured(const SyntheticTrace& written, const CallRequest& request = {}) {
  const Trace trace = written.to_trace();
  TraceNeeds options;
  options.timeline = request;
  return measure(trace, build_tree(trace), {}, options);
}

/// The document about a trace, without the version of the tool.
inline Json document(const SyntheticTrace& written, const ShowOptions& options = {}) {
  const TemporaryDirectory folder;
  const Analysis analysis = analyze_for(options, folder.write("host.xplane.pb", written.to_xspace()));
  Json json = page_document(kTimelinePage, analysis, options);
  json.erase("tool");
  return json;
}

inline void check_call(const WindowCall& call) {
  Picoseconds held = 0;
  for (const HeldTime& part : call.held_by) held += part.time;
  CHECK(held == call.latency());
  CHECK(call.stretches.size() <= kMostStretches);
  Picoseconds done = call.span.start;
  for (const Segment& stretch : call.stretches) {
    REQUIRE(stretch.span.start == done);
    REQUIRE(stretch.span.end > done);
    done = stretch.span.end;
  }
  CHECK(done == call.span.end);
}

inline void check_lane(const TimelineLane& lane, const TimelineWindow& window) {
  REQUIRE(!lane.spans.empty());
  CHECK(lane.spans.size() <= kMostLaneSpans);
  Picoseconds done = window.span.start;
  Picoseconds work = 0;
  for (const LaneSpan& part : lane.spans) {
    REQUIRE(part.span.start >= done);
    REQUIRE(part.work > 0);
    REQUIRE(part.work <= part.span.end - part.span.start);
    done = part.span.end;
    work += part.work;
  }
  CHECK(done <= window.span.end);
  CHECK(lane.time == work);
}

/// How long any of the calls waits inside the window.
inline Picoseconds waited_in(Interval window, const std::vector<Interval>& calls) {
  return total_length(intersected(merged(calls), std::vector<Interval>{window}));
}

/// What is drawn as waiting is what the table of calls says; what is left out is counted.
inline void check_waits(const PipelineMeasurement& pipeline, const TimelineWindow& window) {
  std::vector<Interval> drawn;
  for (const WindowCall& call : window.calls) drawn.push_back(call.span);
  const Picoseconds waited = waited_in(window.span, pipeline.calls);
  CHECK((waited_in(window.span, drawn) == waited) == (window.calls_left_out == 0));
}

inline void check_windows(const PipelineMeasurement& pipeline) {
  std::size_t longest = 0;
  for (const TimelineWindow& window : pipeline.timelines) {
    for (const WindowCall& call : window.calls) {
      CHECK(call.span == pipeline.calls[call.number - 1]);
      check_call(call);
    }
    if (window.kind != WindowKind::longest_call) check_waits(pipeline, window);
    CHECK(window.lanes.size() <= kMostTimelineLanes);
    for (const TimelineLane& lane : window.lanes) check_lane(lane, window);
    if (window.kind == WindowKind::longest_call && longest++ > 0) CHECK(window.lanes.empty());
  }
  CHECK(longest <= kMostTimelineCalls);
}

inline const TimelineWindow& window_of(const HostMeasurement& host, WindowKind kind) {
  const std::vector<TimelineWindow>& windows = host.pipelines.front().timelines;
  const auto found =
      std::find_if(windows.begin(), windows.end(), [&](const TimelineWindow& window) { return window.kind == kind; });
  REQUIRE(found != windows.end());
  return *found;
}

}  // namespace doctor::timeline_test
