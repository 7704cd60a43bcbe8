// TF1 timelines of several session runs: one host, whatever file an event stands in.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "measure/measure.h"
#include "pipeline.h"
#include "report/report.h"
#include "temporary_directory.h"
#include "trace/format.h"
#include "trace/timeline/timeline_events.h"
#include "tree/iterator_forest.h"

namespace doctor::timeline_runs_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kFirst = 1'795'272'473'592'000;  // microseconds since 1970
constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;
constexpr std::int64_t kHour = 3'600'000'000;  // microseconds

const std::string kTraces = source_dir() + "/testdata/traces/";

Json process(int id, const std::string& device = "/device:CPU:0") {
  return {{"name", "process_name"}, {"ph", "M"}, {"pid", id}, {"args", {{"name", device + " Compute"}}}};
}

Json span(const std::string& name, const std::string& node, std::int64_t start, std::int64_t duration, int process) {
  return {{"ph", "X"}, {"cat", "Op"},          {"name", name},    {"pid", process},
          {"tid", 0},  {"ts", kFirst + start}, {"dur", duration}, {"args", {{"name", node}, {"op", name}}}};
}

/// A session run as a file of its own: the first op, a GetNext call of a pipeline and an op after it.
std::vector<Json> run(std::int64_t start, std::int64_t wait, std::int64_t length, int process_id = 1) {
  return {process(process_id),
          span("NoOp", "_SOURCE", start, 1, process_id),
          span("IteratorGetNext", "IteratorGetNext", start + 2, wait, process_id),
          span("unknown", "Iterator::Model", start + 2, wait, process_id),
          span("unknown", "Iterator::Model::Map", start + 3, wait - 2, process_id),
          span("MatMul", "MatMul", start + wait + 10, length - wait - 10, process_id)};
}

std::string document(const std::vector<Json>& events) {
  return Json{{"traceEvents", events}}.dump();
}

/// The trace of several documents, each a file.
JoinedTrace joined(const std::vector<std::string>& documents) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<ByteSource*> parts;
  for (std::size_t index = 0; index < documents.size(); ++index) {
    sources.push_back(memory_source(documents[index], fmt::format("timeline_{}.json", index)));
    parts.push_back(sources.back().get());
  }
  return read_traces(parts);
}

PipelineMeasurement pipeline_of(const std::vector<std::vector<Json>>& runs) {
  std::vector<std::string> documents;
  for (const std::vector<Json>& events : runs) documents.push_back(document(events));
  const Trace trace = joined(documents).trace;
  const HostMeasurement host = measure(trace, build_tree(trace));
  REQUIRE(host.pipelines.size() == 1);
  return host.pipelines[0];
}

Analysis analysis_of(const std::vector<std::string>& files) {
  return diagnose_files(files, {.rules = all_rules()});
}

/// The JSON report without what names the files.
Json report_on(const std::vector<std::string>& files) {
  const Analysis analysis = analysis_of(files);
  Json page = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  page["trace"].erase("files");
  for (Json& pipeline : page["pipelines"]) pipeline.erase("host");
  return page;
}

std::vector<Json> events_of(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file)["traceEvents"].get<std::vector<Json>>();
}

/// Which shard each event goes to.
using Sharding = std::function<std::size_t(const Json& event, std::size_t index)>;

/// Files with the events of a document spread over them. Each has all metadata, and numbers of processes of its own.
std::vector<std::string> shards_of(const std::vector<Json>& events, std::size_t count, const Sharding& shard_of,
                                   const TemporaryDirectory& folder) {
  std::vector<std::vector<Json>> shards(count);
  for (std::size_t index = 0; index < events.size(); ++index) {
    const bool is_metadata = events[index]["ph"] == "M";
    for (std::size_t shard = 0; shard < count; ++shard) {
      if (!is_metadata && shard != shard_of(events[index], index) % count) continue;
      shards[shard].push_back(events[index]);
      if (events[index].contains("pid")) shards[shard].back()["pid"] = events[index]["pid"].get<std::size_t>() + shard;
    }
  }
  std::vector<std::string> files;
  for (std::size_t shard = 0; shard < count; ++shard) {
    files.push_back(folder.write(fmt::format("timeline_{}.json", shard), document(shards[shard])));
  }
  return files;
}

}  // namespace

TEST_CASE("a timeline that is spread over files in any way gives the same report") {
  for (const std::string name :
       {"tf1_sequential_map.timeline.json", "session_timeline_tf2.21.json", "tf1_steps/timeline_1.json"}) {
    CAPTURE(name);
    const Json expected = report_on({kTraces + name});
    const std::vector<Json> events = events_of(kTraces + name);
    const Sharding shardings[] = {
        [](const Json&, std::size_t index) { return index; },
        [](const Json& event, std::size_t) { return event.value("pid", 0u) * 31 + event.value("tid", 0u); },
        [&](const Json& event, std::size_t) {
          return static_cast<std::size_t>(event.value("ts", std::int64_t{0}) / 1'000);
        },
        [](const Json&, std::size_t index) { return std::mt19937(static_cast<unsigned>(index))(); }};
    for (std::size_t way = 0; way < std::size(shardings); ++way) {
      for (const std::size_t count : {2u, 5u}) {
        CAPTURE(way);
        CAPTURE(count);
        const TemporaryDirectory folder;
        std::vector<std::string> files = shards_of(events, count, shardings[way], folder);
        CHECK(report_on(files) == expected);
        std::shuffle(files.begin(), files.end(), std::mt19937(static_cast<unsigned>(way)));
        CHECK(report_on(files) == expected);
      }
    }
  }
}

TEST_CASE("timelines of several steps are one host, in any order and merged") {
  std::vector<std::string> files;
  std::vector<Json> all;
  for (const char step : {'0', '1', '2'}) {
    files.push_back(kTraces + "tf1_steps/timeline_" + step + ".json");
    const std::vector<Json> events = events_of(files.back());
    all.insert(all.end(), events.begin(), events.end());
  }
  const TemporaryDirectory folder;
  const Json expected = report_on({folder.write("merged.json", document(all))});
  CHECK(expected["pipelines"][0]["get_next"]["count"] == 3);
  CHECK(report_on(files) == expected);
  std::reverse(files.begin(), files.end());
  CHECK(report_on(files) == expected);
  // The same step once more is no second step.
  files.push_back(folder.write("again.json", document(all)));
  Json repeated = report_on(files);
  const Json notes = std::exchange(repeated["trace"]["loss_notes"], expected["trace"]["loss_notes"]);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].get<std::string>().find("in other files, too, and count once") != std::string::npos);
  CHECK(repeated == expected);
}

TEST_CASE("every file is listed, and one that cannot be read does not stop the others") {
  const TemporaryDirectory folder;
  const std::string first = folder.write("timeline_9.json", document(run(0, 100, 1000)));
  const std::string broken = folder.write("timeline_1.json", R"({"traceEvents":[{"name":"/device:CPU:0 Compute"}]})");
  const std::string second = folder.write("timeline_2.json", document(run(1100, 100, 1000)));
  const std::string missing = folder / "timeline_3.json";
  const Analysis analysis = analysis_of({broken, first, missing, second});
  REQUIRE(analysis.measurements.hosts.size() == 3);
  REQUIRE(analysis.unreadable.size() == 2);
  CHECK(analysis.unreadable[0].where == broken);
  CHECK(analysis.unreadable[1].where == missing);
  const HostMeasurement& host = analysis.measurements.hosts[1];
  REQUIRE(host.files.size() == 2);
  CHECK(host.files[0].path == first);
  CHECK(host.files[1].path == second);
  CHECK(host.files[1].bytes == document(run(1100, 100, 1000)).size());
  CHECK(host.name() == "timeline_2.json and 1 other file");
  REQUIRE(host.pipelines.size() == 1);
  CHECK(host.pipelines[0].calls.size() == 2);
  const Json page = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  CHECK(page["trace"]["files"].size() == 4);
  CHECK(page["trace"]["loss"]["files_unreadable"] == 2);
  CHECK(page["trace"]["loss"].size() == 2);
}

TEST_CASE("parts that are no part are told") {
  const JoinedTrace parts =
      joined({"", document(run(0, 100, 1000)), "[{\"ph\":\"X\"}]", document(run(2000, 100, 1000)), "no trace"});
  REQUIRE(parts.faults.size() == 5);
  CHECK(parts.faults[0]);
  CHECK_FALSE(parts.faults[1]);
  CHECK(parts.faults[2]);
  CHECK_FALSE(parts.faults[3]);
  CHECK(parts.faults[4]);
  CHECK(parts.trace.files.size() == 2);
  CHECK(parts.trace.steps.size() == 2);
  CHECK(joined({}).trace.event_count == 0);
}

TEST_CASE("a session run begins with its partitions and ends with its last event") {
  const auto steps_of = [](const std::vector<Json>& events) {
    std::string text;
    for (const StepMarker& step : joined({document(events)}).trace.steps) {
      text += fmt::format("{}:{}+{} ", step.number, step.start / kUs, step.duration / kUs);
    }
    return text;
  };
  const std::string gpu = "/device:GPU:0";
  CHECK(steps_of({process(1), span("NoOp", "_SOURCE", 0, 1, 1), span("MatMul", "a", 5, 90, 1)}) == "0:0+95 ");
  // The start of a second device belongs to the same run, and its ops count though they are no work of the host.
  CHECK(steps_of({process(1), process(2, gpu), span("NoOp", "_SOURCE", 0, 1, 1), span("NoOp", "_SOURCE", 4, 1, 2),
                  span("MatMul", "a", 5, 200, 2), span("NoOp", "_SOURCE", 300, 1, 2),
                  span("NoOp", "_SOURCE", 302, 1, 1), span("MatMul", "a", 310, 10, 1)}) == "0:0+205 1:300+20 ");
  // What is still running when the next run begins is cut there.
  CHECK(steps_of({process(1), span("NoOp", "_SOURCE", 0, 1, 1), span("MatMul", "a", 5, 200, 1),
                  span("NoOp", "_SOURCE", 100, 1, 1)}) == "0:0+100 1:100+1 ");
  // In files of their own the same device has different numbers.
  const JoinedTrace apart = joined({document(run(0, 100, 1000, 1)), document(run(2000, 100, 1000, 7))});
  CHECK(apart.trace.steps.size() == 2);
  CHECK(steps_of({process(1), span("MatMul", "a", 5, 200, 1)}).empty());
}

TEST_CASE("pauses count as the training loop's time only if every run was traced") {
  // Runs of 1 ms with 0.4 ms of waiting, one after the other with 0.2 ms in between.
  const PipelineMeasurement dense = pipeline_of({run(0, 400, 1000), run(1200, 400, 1000), run(2400, 400, 1000)});
  CHECK(dense.cadence.share == doctest::Approx(400.0 / 1200));
  CHECK(*dense.step_share == doctest::Approx(0.4));
  // The same runs, one of a hundred.
  const PipelineMeasurement sparse = pipeline_of({run(0, 400, 1000), run(120'000, 400, 1000), run(240'000, 400, 1000)});
  CHECK(sparse.cadence.share == doctest::Approx(0.4));
  CHECK(sparse.has_cadence);
  const PipelineMeasurement lone = pipeline_of({run(0, 400, 1000)});
  CHECK(lone.cadence.share == doctest::Approx(0.4));
  CHECK(lone.has_cadence);
}

TEST_CASE("timelines of a job that ran for days fit together") {
  std::vector<std::string> documents;
  for (const std::int64_t hours : {60, 0, 9, 25}) documents.push_back(document(run(hours * kHour, 400, 1000)));
  const Trace trace = joined(documents).trace;
  CHECK(trace.loss.complete());
  REQUIRE(trace.steps.size() == 4);
  for (std::size_t step = 0; step < 4; ++step) {
    CHECK(trace.steps[step].start == static_cast<Picoseconds>(step) * (kPicosecondsPerSecond + 1000 * kUs));
    CHECK(trace.steps[step].duration == 1000 * kUs);
  }
  CHECK(trace.lanes.at(0).get_next_calls.size() == 4);
  CHECK(trace.lanes[0].get_next_calls[3].span.start() == trace.steps[3].start + 2 * kUs);
  // Pauses that fit are kept, and what is too far away is counted.
  const Trace hours = joined({document(run(9 * kHour, 400, 1000)), document(run(0, 400, 1000))}).trace;
  CHECK(hours.steps.at(1).start == 9 * kHour * kUs);
  const Trace months = joined({document(run(0, 400, 1000)), document(run(1'000 * kHour, 400, 1000))}).trace;
  CHECK(months.steps.size() == 1);
  CHECK(months.loss.counts == std::map<std::string, std::uint64_t>{{"events_outside_time_range", 5}});
}

}  // namespace doctor::timeline_runs_test
