// `show calls`: which calls are chosen, that their segments sum to the latency, and the pages.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "built_paths.h"
#include "pipeline.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::calls_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

const ShowOptions kAllCalls = {.top = 0};

Analysis analyze_for(const ShowOptions& shown, const std::vector<std::string>& files, unsigned threads = 1) {
  const TraceNeeds options = kCallsPage.needs(shown);
  return diagnose_files(files, {.work = {.threads = threads}, .needs = options});
}

/// The recorded traces in testdata/.
std::vector<fs::path> recorded_traces() {
  std::vector<fs::path> traces;
  for (const char* const folder : {"traces", "formats"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "testdata" / folder)) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file() && !path.ends_with(".expected.json")) traces.push_back(entry.path());
    }
  }
  return traces;
}

Picoseconds to_picoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

/// `count` calls of Root > Map on one thread, 10 ms apart; call n takes n times `length_us`.
SyntheticTrace growing_calls(int count, double length_us, std::uint64_t first_id = 1) {
  SyntheticTrace trace;
  for (int call = 1; call <= count; ++call) {
    const std::string thread = "consumer-" + std::to_string(first_id);
    trace.iterator(thread, "Iterator::Root", first_id, 0, 10'000.0 * call, length_us * call);
    trace.iterator(thread, "Iterator::Root::Map", first_id + 1, first_id, 10'000.0 * call + 1, length_us * call - 2);
  }
  return trace;
}

struct Chosen {
  ShowOptions options;
  Analysis analysis;
  Result<CallList> list;
};

Chosen choose(const ShowOptions& options, const std::vector<SyntheticTrace>& hosts) {
  const TemporaryDirectory folder;
  std::vector<std::string> files;
  for (const SyntheticTrace& host : hosts) {
    files.push_back(folder.write(std::to_string(files.size()) + ".xplane.pb", host.to_xspace()));
  }
  Chosen chosen{options, analyze_for(options, files), {}};
  chosen.list = choose_calls({chosen.analysis.measurements, chosen.analysis.diagnosis, chosen.options});
  return chosen;
}

/// "0:0/5 0:0/4": the pipelines and numbers of the calls, in the order of the page.
std::string listed(const Chosen& chosen) {
  if (!chosen.list) return to_string(chosen.list.error());
  std::string text;
  for (const ShownCall& call : chosen.list->calls) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", pipeline_id(call.view), call.detail->number);
  }
  return text;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the segments of every call of every recorded trace sum to its latency, in order, without gaps") {
  std::size_t calls = 0;
  for (const fs::path& trace : recorded_traces()) {
    CAPTURE(trace.string());
    const Analysis analysis = analyze_for(kAllCalls, {trace.string()});
    const Result<CallList> list = choose_calls({analysis.measurements, analysis.diagnosis, kAllCalls});
    REQUIRE(list.has_value());
    std::size_t call_count = 0;
    for (const PipelineView& view : list->pipelines) call_count += view.pipeline.calls.size();
    CHECK(list->calls.size() == call_count);
    for (const ShownCall& call : list->calls) {
      Picoseconds done = call.detail->span.start;
      for (const Segment& segment : call.detail->segments) {
        REQUIRE(segment.span.start == done);
        REQUIRE(segment.span.end > done);
        done = segment.span.end;
      }
      REQUIRE(done == call.detail->span.end);
      CHECK(call.detail->span == call.view.pipeline.calls[call.detail->number - 1]);
      Picoseconds sum = 0;
      for (const CallRow& row : rows_of(*call.detail)) sum += row.time;
      CHECK(sum == call.detail->latency());
      ++calls;
    }
  }
  CHECK(calls > 300);
}

TEST_CASE("the JSON page keeps every picosecond") {
  for (const fs::path& trace : recorded_traces()) {
    CAPTURE(trace.string());
    const Analysis analysis = analyze_for(kAllCalls, {trace.string()});
    const Json page(page_document(kCallsPage, analysis, kAllCalls));
    for (const Json& pipeline : page["pipelines"]) {
      CHECK(pipeline["calls"].size() == pipeline["call_count"]);
      for (const Json& call : pipeline["calls"]) {
        Picoseconds done = to_picoseconds(call["start_us"]);
        const Picoseconds end = done + to_picoseconds(call["latency_us"]);
        for (const Json& segment : call["segments"]) {
          REQUIRE(to_picoseconds(segment["start_us"]) == done);
          done += to_picoseconds(segment["duration_us"]);
        }
        REQUIRE(done == end);
      }
    }
  }
}

TEST_CASE("details that nobody asked for are not measured") {
  const fs::path trace = fs::path(source_dir()) / "testdata/traces/seed_example1.xplane.pb";
  const Analysis analysis = diagnose_files(std::vector<std::string>{trace.string()}, {});
  CHECK(analysis.measurements.hosts[0].pipelines[0].call_details.empty());
}

TEST_CASE("slow calls are listed longest first, as many as are wanted") {
  const std::vector<SyntheticTrace> trace = {growing_calls(6, 20)};  // 20, 40, 60, 80, 100, 120 us
  CHECK(listed(choose({.top = 10}, trace)) == "0:0/6 0:0/5 0:0/4 0:0/3");
  CHECK(listed(choose({.top = 2}, trace)) == "0:0/6 0:0/5");
  CHECK(choose({.top = 10}, trace).analysis.measurements.hosts[0].pipelines[0].call_details.size() == 4);
  CHECK(choose({.top = 2}, trace).analysis.measurements.hosts[0].pipelines[0].call_details.size() == 2);
  CHECK(listed(choose({.top = 0}, trace)) == "0:0/6 0:0/5 0:0/4 0:0/3 0:0/2 0:0/1");
  CHECK(listed(choose({.call = 2, .top = 10}, trace)) == "0:0/2");
  CHECK(listed(choose({.top = 10}, {growing_calls(3, 10)})) == "0:0/3");
  CHECK(listed(choose({.call = 7, .top = 10}, trace)) ==
        "--call 7: pipeline 0:0 has 6 calls; they are numbered from 1 to 6");
  CHECK(listed(choose({.pipeline = "1:0", .top = 10}, trace)) == "--pipeline: no pipeline '1:0'; known: 0:0");
  CHECK(listed(choose({.pipeline = "x", .top = 10}, trace)) == "--pipeline: no pipeline 'x'; known: 0:0");
}

TEST_CASE("a list goes over all hosts; a number is one of the worst pipeline, or of the one that is named") {
  const std::vector<SyntheticTrace> hosts = {growing_calls(2, 30), growing_calls(3, 30)};  // 30, 60; 30, 60, 90 us
  CHECK(listed(choose({.top = 10}, hosts)) == "1:0/3 1:0/2 0:0/2");
  CHECK(listed(choose({.top = 1}, hosts)) == "1:0/3");
  CHECK(listed(choose({.pipeline = "0:0", .top = 10}, hosts)) == "0:0/2");
  CHECK(listed(choose({.call = 1, .top = 10}, hosts)) == "1:0/1");
  CHECK(listed(choose({.call = 1, .pipeline = "0:0", .top = 10}, hosts)) == "0:0/1");
  CHECK(listed(choose({.call = 3, .pipeline = "0:0", .top = 10}, hosts)) ==
        "--call 3: pipeline 0:0 has 2 calls; they are numbered from 1 to 2");
  // A host without a slow call offers its longest; beside slow ones it is none.
  CHECK(listed(choose({.top = 10}, {growing_calls(2, 5), growing_calls(3, 30)})) == "1:0/3 1:0/2");
}

TEST_CASE("a trace without tf.data, or without calls, is no error") {
  SyntheticTrace other;
  other.add("main", "work", 0, 10);
  const Chosen none = choose({.top = 10}, {other});
  REQUIRE(none.list.has_value());
  CHECK(page_text(kCallsPage, none.analysis, none.options) == "no tf.data iterator in this trace\n");
  CHECK(Json(page_document(kCallsPage, none.analysis, none.options))["pipelines"].empty());
  SyntheticTrace background;
  background.iterator("worker", "Iterator::Root::Map", 2, 1, 0, 10);
  const Chosen without_calls = choose({.top = 10}, {background});
  REQUIRE(without_calls.list.has_value());
  CHECK(page_text(kCallsPage, without_calls.analysis, without_calls.options) ==
        "no GetNext call of a consumer in this trace\n");
  CHECK(listed(choose({.call = 1, .top = 10}, {background})) == "--call 1: the trace shows no GetNext call");
}

TEST_CASE("a bar shows where its spans lie; what is shorter than a column leaves a mark") {
  const auto bar = [](const std::vector<Interval>& spans) { return bar_of(spans, {1000, 1800}, 4); };
  CHECK(bar({{1000, 1800}}) == "████");
  CHECK(bar({{1000, 1300}}) == "█▌  ");
  CHECK(bar({{1300, 1800}}) == " ▌██");
  CHECK(bar({{1400, 1401}}) == "  ▏ ");
  CHECK(bar({{1799, 1800}}) == "   ▏");
  CHECK(bar({{1000, 1050}, {1100, 1150}}) == "▌   ");
  CHECK(bar({}) == "    ");
  CHECK(bar_of({{0, 0}}, {0, 0}, 2) == "  ");
}

TEST_CASE("the text page") {
  SyntheticTrace trace;
  trace.add("main/1", "IteratorGetNextOp::DoCompute", 100, 1000);
  trace.iterator("main/1", "Iterator::Root", 1, 0, 200, 800);
  trace.iterator("main/1", "Iterator::Root::Zip", 2, 1, 200, 800);
  trace.iterator("main/1", "Iterator::Root::Zip[0]::Map", 3, 2, 200, 200);
  trace.iterator("main/1", "Iterator::Root::Zip[1]::Map", 4, 2, 400, 600);
  trace.add("main/1", "InstantiatedCapturedFunction::Run", 500, 500).ids["id"] = 7;
  const Chosen chosen = choose({.top = 10}, {trace});
  REQUIRE(chosen.list.has_value());
  const std::string expected =
      "pipeline 0:0 on host-1: 1 call, 1 slow (longer than 50 us)\n"
      "the slow calls, the longest first\n"
      "\n"
      "call 1 of 1: 1.00 ms, from 0.000000 s on (thread main/1)\n"
      "  |████                                ████|   200 us     20%  GetNext       outside of tf.data  main/1\n"
      "  |    ████████                            |   200 us     20%  Zip[0] > Map  own work            main/1\n"
      "  |            ████                        |   100 us     10%  Zip[1] > Map  own work            main/1\n"
      "  |                ████████████████████    |   500 us     50%  Zip[1] > Map  your function       main/1\n"
      "  mostly Iterator::Root::Zip[1]::Map\n";
  CHECK(page_text(kCallsPage, chosen.analysis, chosen.options) == expected);
  // What holds most stands out.
  const std::string in_color = page_text(kCallsPage, chosen.analysis, {.style = {.color = true}, .top = 10});
  CHECK(holds(in_color, "\x1b[1m  |                ████████████████████    |   500 us     50%"));
}

TEST_CASE("rows beyond a dozen are folded into the shortest's sum") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 10'000);
  trace.iterator("main", "Iterator::Root::Zip", 2, 1, 0, 10'000);
  for (int input = 0; input < 20; ++input) {
    trace.iterator("main", fmt::format("Iterator::Root::Zip[{}]::Range", input), 10u + static_cast<unsigned>(input), 2,
                   10.0 * input * (input + 1) / 2, 10.0 * (input + 1));
  }
  const Chosen chosen = choose({.top = 10}, {trace});
  REQUIRE(chosen.list.has_value());
  const std::string text = page_text(kCallsPage, chosen.analysis, chosen.options);
  CHECK(holds(text, "9 more\n"));
  CHECK(holds(text, "450 us"));  // 10 + 20 + ... + 90
  CHECK_FALSE(holds(text, "Zip[8] > Range"));
  CHECK(holds(text, "Zip[9] > Range"));
}

TEST_CASE("warm-up is marked on every page") {
  SyntheticTrace trace = growing_calls(1, 9'000);
  for (int call = 2; call < 8; ++call) {
    trace.iterator("consumer-1", "Iterator::Root", 1, 0, 10'000.0 * call + 10'000, 100);
  }
  trace.add("consumer-1", "MakeIteratorOp::DoCompute", 0, 10);
  const Chosen chosen = choose({.top = 2}, {trace});
  REQUIRE(chosen.list.has_value());
  CHECK(holds(page_text(kCallsPage, chosen.analysis, chosen.options), "(thread consumer-1), warm-up\n"));
  const Json calls = Json(page_document(kCallsPage, chosen.analysis, chosen.options))["pipelines"][0]["calls"];
  REQUIRE(calls.size() == 2);
  CHECK(calls[0]["warmup"] == true);
  CHECK(calls[1]["warmup"] == false);
  CHECK(holds(page_csv(kCallsPage, chosen.analysis, chosen.options), "9000.000000,true,"));
}

TEST_CASE("the JSON page has the keys of its schema") {
  const Chosen chosen = choose({.top = 1}, {growing_calls(2, 100)});
  REQUIRE(chosen.list.has_value());
  const Json page(page_document(kCallsPage, chosen.analysis, chosen.options));
  CHECK(page["schema"] == "tfdata-doctor.calls/1");
  const Json expected = Json::parse(R"({"id": "0:0", "host": "host-1", "root": "Iterator::Root", "call_count": 2,
    "slow_count": 2, "calls": [{"number": 2, "start_us": 10000.0, "latency_us": 200.0, "warmup": false,
    "thread": "consumer-1", "segments": [
      {"start_us": 10000.0, "duration_us": 1.0, "long_name": "Iterator::Root", "short_name": "Root", "kind": "self",
       "thread": "consumer-1"},
      {"start_us": 10001.0, "duration_us": 198.0, "long_name": "Iterator::Root::Map", "short_name": "Map",
       "kind": "self", "thread": "consumer-1"},
      {"start_us": 10199.0, "duration_us": 1.0, "long_name": "Iterator::Root", "short_name": "Root", "kind": "self",
       "thread": "consumer-1"}]}]})");
  CHECK(page["pipelines"][0] == expected);
}

TEST_CASE("hostile names stay within their line and field") {
  SyntheticTrace trace;
  trace.iterator("=cmd|'/C calc'!A0", "Iterator::Root\x1b[2J", 1, 0, 0, 100);
  trace.iterator("=cmd|'/C calc'!A0", "Iterator::Root\x1b[2J::Map,\"x\"\n", 2, 1, 10, 80);
  const Chosen chosen = choose({.top = 10}, {trace});
  REQUIRE(chosen.list.has_value());
  for (const std::string& page : {page_text(kCallsPage, chosen.analysis, chosen.options),
                                  to_text(page_document(kCallsPage, chosen.analysis, chosen.options)),
                                  page_csv(kCallsPage, chosen.analysis, chosen.options)}) {
    CHECK_FALSE(holds(page, "\x1b"));
  }
  const std::string csv = page_csv(kCallsPage, chosen.analysis, chosen.options);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(holds(csv, ",self,\"Iterator::Root\\x1b[2J::Map,\"\"x\"\"\\x0a\",'=cmd|'/C calc'!A0\n"));
}

TEST_CASE("threads change no byte of the pages") {
  const fs::path trace = fs::path(source_dir()) / "testdata/traces/parallel_map_all_cores_tf2.21.xplane.pb";
  std::set<std::string> pages;
  for (const unsigned threads : {1U, 2U, 3U}) {
    const Analysis analysis = analyze_for(kAllCalls, {trace.string()}, threads);
    pages.insert(to_text(page_document(kCallsPage, analysis, kAllCalls)));
  }
  CHECK(pages.size() == 1);
}

}  // namespace doctor::calls_test
