// Timelines: which windows are chosen, what is drawn in them, and that it is bounded and adds up.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "base/intervals.h"
#include "built_paths.h"
#include "measure/functions/function_owners.h"
#include "measure/functions/op_kind.h"
#include "measure/measure.h"
#include "measure/measure_passes.h"
#include "measure/timeline/timeline_recording.h"
#include "measured_timeline.h"
#include "pipeline.h"
#include "recorded_json.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "tree/iterator_forest.h"

namespace doctor::timeline_test {
namespace {

namespace fs = std::filesystem;

/// The recorded traces in testdata/.
std::vector<std::string> recorded_traces() {
  std::vector<std::string> traces;
  for (const char* const folder : {"traces", "formats", "lines"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "testdata" / folder)) {
      const std::string path = entry.path().string();
      const bool is_trace = path.find("expected") == std::string::npos && path.find("lines.json") == std::string::npos;
      if (entry.is_regular_file() && is_trace) traces.push_back(path);
    }
  }
  return traces;
}

/// Root > Prefetch > Map > Range: four naive steps of 100 us, of which 70 are waiting; then twelve whose elements a
/// thread of the prefetch makes while the step runs.
SyntheticTrace naive_then_prefetched() {
  SyntheticTrace trace;
  const std::string root = "Iterator::Root";
  const auto make_element = [&](double start) {
    trace.iterator("worker", root + "::Prefetch::Map", 3, 2, start, 60);
    trace.iterator("worker", root + "::Prefetch::Map::Range", 4, 3, start + 5, 10);
    trace.add("worker", "InstantiatedCapturedFunction::Run", start + 20, 30).ids["id"] = 7;
  };
  for (int step = 0; step < 16; ++step) {
    const double start = 1000 + 100.0 * step;
    const double latency = step < 4 ? 70 : 10;
    trace.iterator("main", root, 1, 0, start, latency);
    trace.iterator("main", root + "::Prefetch", 2, 1, start + 1, latency - 2);
    make_element(step < 4 ? start + 5 : start + 25);
  }
  return trace;
}

/// "Map:self 120, Map:function 90": of the lanes of a window, in us.
std::string lanes_of(const HostMeasurement& host, const TimelineWindow& window) {
  std::string text;
  for (const TimelineLane& lane : window.lanes) {
    text += fmt::format("{}{}:{} {} on {}", text.empty() ? "" : ", ", host.iterators[lane.iterator].short_name,
                        lane.work == LaneWork::self ? "self" : "function", lane.time / kUs,
                        host.threads[index_of(lane.lane)]);
  }
  return text;
}

TEST_CASE("timelines of every recorded trace add up and are bounded") {
  std::size_t windows = 0;
  for (const std::string& trace : recorded_traces()) {
    CAPTURE(trace);
    const Analysis analysis = analyze_for({}, trace);
    for (const HostMeasurement& host : analysis.measurements.hosts) {
      for (const PipelineMeasurement& pipeline : host.pipelines) {
        check_windows(pipeline);
        windows += pipeline.timelines.size();
      }
    }
    CHECK(page_document(kTimelinePage, analysis).dump().size() < 500'000);
  }
  CHECK(windows > 100);
}

TEST_CASE("the lanes of a whole trace add up to the work of each iterator") {
  std::size_t checked = 0;
  for (const std::string& file : recorded_traces()) {
    CAPTURE(file);
    const auto source = open_source(file);
    REQUIRE(source.has_value());
    const Result<Trace> trace = read_trace(**source);
    if (!trace || !trace->lanes_are_threads) continue;
    const IteratorForest forest = build_tree(*trace);
    const HostMeasurement host = measure(*trace, forest);
    std::vector<bool> waits;
    for (const IteratorMeasurement& iterator : host.iterators) waits.push_back(waits_for_others(iterator));
    const FunctionOwners owners(*trace, forest, op_kinds_of(trace->strings));
    for (std::size_t id = 0; id < host.iterators.size(); ++id) {
      std::vector<bool> members(host.iterators.size(), false);
      members[id] = true;
      TimelineWindow window;
      window.span = {trace->window.start, trace->window.end + 1};
      collect_lanes(*trace, forest, owners, waits, std::vector<LaneRequest>{{window.span, members, &window}});
      if (window.lanes_left_out > 0) continue;
      Picoseconds time = 0;
      for (const TimelineLane& lane : window.lanes) time += lane.time;
      CAPTURE(host.iterators[id].long_name);
      CHECK(time == host.iterators[id].work());
      checked += time > 0 ? 1 : 0;
    }
  }
  CHECK(checked > 100);
}

TEST_CASE("typical steps wait as much as all do, stay in one iteration and are as many as there are") {
  PipelineMeasurement pipeline;
  const auto typical = [&]() -> std::string {
    const std::vector<ChosenWindow> windows = choose_windows({}, pipeline, {});
    if (windows.front().kind != WindowKind::typical_steps) return "none";
    return fmt::format("{}+{}", windows.front().number, windows.front().calls.size());
  };
  const auto add_steps = [&](int count, Picoseconds latency) {
    for (int step = 0; step < count; ++step) {
      const Picoseconds start = static_cast<Picoseconds>(pipeline.calls.size()) * 100;
      pipeline.calls.push_back({start, start + latency});
    }
  };
  add_steps(1, 50);
  CHECK(typical() == "none");  // nothing ends the step
  add_steps(2, 50);
  CHECK(typical() == "1+2");
  add_steps(8, 50);
  CHECK(typical() == "1+4");  // all alike: the earliest
  pipeline.warmup_count = 2;
  CHECK(typical() == "3+4");
  pipeline.iteration_starts = {4};
  CHECK(typical() == "5+4");  // that of call 4 ends in another iteration
  pipeline.iteration_starts = {4, 7};
  CHECK(typical() == "8+3");  // no four in a row
  pipeline = {};
  add_steps(4, 10);
  add_steps(8, 40);
  add_steps(3, 90);
  CHECK(typical() == "5+4");
}

TEST_CASE("typical steps are typical in length, too: a long pause among them is none") {
  PipelineMeasurement pipeline;
  Picoseconds start = 0;
  for (int step = 0; step < 12; ++step) {
    // The loop waits as long in every step; the first four have a pause after them, for which it waits less.
    const bool has_pause = step == 2;
    pipeline.calls.push_back({start, start + (step < 4 ? 50 : 60)});
    start += has_pause ? 2000 : 100;
  }
  const std::vector<ChosenWindow> windows = choose_windows({}, pipeline, {});
  REQUIRE(windows.front().kind == WindowKind::typical_steps);
  CHECK(windows.front().span.end - windows.front().span.start == 400);
}

TEST_CASE("a window shows the calls of other pipelines on the thread of the loop") {
  SyntheticTrace trace;
  for (int step = 0; step < 8; ++step) {
    const double start = 100.0 * step;
    trace.iterator("main", "Iterator::Root", 1, 0, start, 20);
    trace.iterator("main", "Iterator::Root::Other", 7, 0, start + 50, 30);
    trace.iterator("another thread", "Iterator::Root::Third", 8, 0, start + 60, 30);
  }
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() >= 2);
  for (const PipelineMeasurement& pipeline : host.pipelines) {
    if (host.iterators[pipeline.root].long_name != "Iterator::Root") continue;
    const TimelineWindow& window = pipeline.timelines.front();
    REQUIRE(!window.other_calls.empty());
    for (const OtherCall& call : window.other_calls) {
      CHECK(host.iterators[call.root].long_name == "Iterator::Root::Other");
      CHECK(call.span.end - call.span.start == 30 * kUs);
    }
  }
}

TEST_CASE("a window shows who worked on which thread, waited for or not") {
  const HostMeasurement host = measured(naive_then_prefetched());
  const TimelineWindow& steps = window_of(host, WindowKind::typical_steps);
  REQUIRE(steps.calls.size() == 4);
  CHECK(steps.span.end - steps.span.start == 400 * kUs);
  const TimelineWindow& longest = window_of(host, WindowKind::longest_call);
  CHECK(longest.number == 1);
  CHECK(longest.span == host.pipelines.front().calls.front());
  CHECK(lanes_of(host, longest) ==
        "Root:self 2 on main, Map:self 20 on worker, Map:function 30 on worker, Range:self 10 on worker");
  // A window of the prefetched part: the call of 10 us and 10 us before it, in which the thread rests.
  const TimelineWindow& median = window_of(host, WindowKind::median_call);
  CHECK(median.number == 5);
  CHECK(median.span.end - median.span.start == 20 * kUs);
  CHECK(lanes_of(host, median) == "Root:self 2 on main");
}

TEST_CASE("the time before a call shows the calls of that time, and no more than it can have") {
  PipelineMeasurement pipeline;
  const auto lead_of = [&](std::size_t call) {
    CallRequest request;
    request.number = call;
    const ChosenWindow window = choose_windows({}, pipeline, request).front();
    CHECK(window.calls_left_out == 0);
    return fmt::format("{} to {}: {}", window.span.start, window.span.end, window.calls.size());
  };
  for (Picoseconds call = 0; call < 40; ++call) pipeline.calls.push_back({call * 10, call * 10 + 8});
  pipeline.calls.push_back({400, 600});
  CHECK(lead_of(1) == "0 to 8: 1");
  CHECK(lead_of(3) == "12 to 28: 2");
  CHECK(lead_of(41) == "288 to 600: 12");  // 200 would be as much as it lasts; before these are 28 calls
}

TEST_CASE("one call or one step may be asked for") {
  SyntheticTrace trace = naive_then_prefetched();
  trace.add("main", "train", 1400, 200).ids["step_num"] = 41;
  const Json call = document(trace, {.call = 5});
  REQUIRE(call["pipelines"][0]["windows"].size() == 1);
  CHECK(call["pipelines"][0]["windows"][0]["kind"] == "call");
  CHECK(call["pipelines"][0]["windows"][0]["number"] == 5);
  const Json step = document(trace, {.step = 41});
  REQUIRE(step["pipelines"][0]["windows"].size() == 1);
  const Json& window = step["pipelines"][0]["windows"][0];
  CHECK(window["kind"] == "step");
  CHECK(window["number"] == 41);
  CHECK(window["duration_us"] == 200);
  CHECK(window["calls"].size() == 2);
}

TEST_CASE("what is not there is an error that says what is") {
  const TemporaryDirectory folder;
  SyntheticTrace trace = naive_then_prefetched();
  const auto error_of = [&](const ShowOptions& options) {
    const Analysis analysis = analyze_for(options, folder.write("host.xplane.pb", trace.to_xspace()));
    const Result<TimelineList> list = choose_timelines({analysis.measurements, analysis.diagnosis, options});
    return list ? std::string() : to_string(list.error());
  };
  CHECK(error_of({.call = 17}) == "--call 17: pipeline 0:0 has 16 calls; they are numbered from 1 to 16");
  CHECK(error_of({.step = 1}) == "--step 1: no such step; the trace marks no steps: name a call, --call N");
  CHECK(error_of({.pipeline = "0:9"}) == "--pipeline: no pipeline '0:9'; known: 0:0");
  trace.add("main", "train", 1400, 200).ids["step_num"] = 41;
  trace.add("main", "train", 1600, 200).ids["step_num"] = 42;
  CHECK(error_of({.step = 1}) == "--step 1: no such step; the trace marks steps from 41 to 42");
}

TEST_CASE("the order of events in a recorded trace changes nothing") {
  const TemporaryDirectory folder;
  const auto document_of = [&](const Json& trace) {
    const Analysis analysis = analyze_for({}, folder.write("host.trace.json", trace.dump()));
    return page_document(kTimelinePage, analysis);
  };
  for (const RecordedJson& trace : recorded_json("traces")) {
    CAPTURE(trace.name);
    Json shuffled = trace.document;
    std::vector<Json> events = shuffled["traceEvents"];
    std::mt19937 random(3);
    std::shuffle(events.begin(), events.end(), random);
    shuffled["traceEvents"] = events;
    CHECK(document_of(shuffled) == document_of(trace.document));
  }
}

TEST_CASE(
    "the order of events changes nothing, and a job that takes twice as long gets the same with twice the times") {
  SyntheticTrace trace = naive_then_prefetched();
  for (SyntheticTrace::Event& event : trace.events) event.start_us += 0.25;
  const Json once = document(trace);
  SyntheticTrace shuffled = trace;
  std::mt19937 random(7);
  std::shuffle(shuffled.events.begin(), shuffled.events.end(), random);
  CHECK(document(shuffled)["pipelines"] == once["pipelines"]);

  for (SyntheticTrace::Event& event : trace.events) {
    event.start_us *= 2;
    event.duration_us *= 2;
  }
  Json twice = document(trace);
  const std::function<void(Json&)> halve = [&](Json& value) {
    for (auto& part : value.items()) {
      const bool is_time = part.key().ends_with("_us") && part.value().is_number();
      if (is_time) part.value() = part.value().get<double>() / 2;
      if (part.key() == "spans") {
        for (Json& span : part.value()) {
          for (Json& time : span) time = time.get<double>() / 2;
        }
      } else if (part.value().is_structured()) {
        halve(part.value());
      }
    }
  };
  halve(twice);
  CHECK(twice.dump() == once.dump());
}

}  // namespace
}  // namespace doctor::timeline_test
