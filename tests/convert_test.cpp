// Events written in other formats: exact, complete, and read back with the same diagnosis.

#include "convert/convert.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collected_events.h"
#include "converted_trace.h"
#include "gzipped.h"
#include "pipeline.h"
#include "read_one_format.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "trace/annotations.h"
#include "tree/iterator_forest.h"

namespace doctor::convert_test {
namespace {

std::vector<Json> events_of(const std::string& document, const std::string& phase) {
  std::vector<Json> events;
  const Json parsed = Json::parse(document);
  for (const Json& event : parsed["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

std::vector<std::string> process_names(const std::string& document) {
  std::vector<std::string> names;
  for (const Json& event : events_of(document, "M")) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  }
  return names;
}

/// An iterator call on one thread of a host with a GPU.
xspace::XSpace small_space(const std::string& host, std::int64_t timestamp_ns) {
  SyntheticTrace trace;
  SyntheticTrace::Event& call = trace.iterator("main", "Iterator::Root::Map", 1ull << 63, 7, 1.000001, 2.5);
  call.texts["name"] = "MapDataset:3";
  xspace::XSpace space = trace.to_message();
  space.set_hostnames(0, host);
  xspace::XPlane& plane = *space.mutable_planes(0);
  for (auto& entry : *plane.mutable_event_metadata()) entry.second.set_display_name("Iterator::Map");
  plane.mutable_lines(0)->set_timestamp_ns(timestamp_ns);
  space.add_planes()->set_name("/device:GPU:0");
  return space;
}

TEST_CASE("a Chrome trace has the conventions of TensorFlow's own") {
  const TemporaryDirectory folder;
  const std::string file =
      folder.write("a.xplane.pb", small_space("vm", 1'700'000'000'000'000'000).SerializeAsString());
  const std::string text = converted({file}, ConvertFormat::chrome).text;
  const Json document = Json::parse(text);
  CHECK(document["displayTimeUnit"] == "ns");
  CHECK(document["otherData"]["origin_ns"] == "1700000000000000000");
  // Hosts and devices without events too.
  CHECK(process_names(text) == std::vector<std::string>{"vm /host:CPU", "vm /device:GPU:0"});
  const std::vector<Json> events = events_of(text, "X");
  REQUIRE(events.size() == 1);
  CHECK(events[0].dump() ==
        R"({"ph":"X","pid":1,"tid":1,"ts":1.000001,"dur":2.5,"name":"Iterator::Map","args":)"
        R"({"long_name":"Iterator::Root::Map","id":"9223372036854775808","parent_id":"7","name":"MapDataset:3"}})");
  std::vector<std::string> kinds;
  for (const Json& event : events_of(text, "M")) kinds.push_back(event["name"]);
  CHECK(kinds == std::vector<std::string>{"process_name", "process_sort_index", "process_name", "process_sort_index",
                                          "thread_name", "thread_sort_index"});
}

TEST_CASE("hosts are processes of their own on one clock") {
  const TemporaryDirectory folder;
  const std::int64_t origin = 1'700'000'000'000'000'000;
  const std::string first = folder.write("a.xplane.pb", small_space("vm-1", origin + 3'000).SerializeAsString());
  const std::string second = folder.write("b.xplane.pb", small_space("vm-2", origin).SerializeAsString());
  const std::string years_ago = folder.write("c.xplane.pb", small_space("vm-3", 5).SerializeAsString());
  const Converted result = converted({first, second, years_ago}, ConvertFormat::chrome);
  CHECK(process_names(result.text) == std::vector<std::string>{"vm-1 /host:CPU", "vm-1 /device:GPU:0", "vm-2 /host:CPU",
                                                               "vm-2 /device:GPU:0", "vm-3 /host:CPU",
                                                               "vm-3 /device:GPU:0"});
  const std::vector<Json> events = events_of(result.text, "X");
  REQUIRE(events.size() == 3);
  CHECK(events[0]["ts"].dump() == "4.000001");
  CHECK(events[1]["ts"].dump() == "1.000001");  // Perfetto drops what starts before 0
  CHECK(events[2]["ts"].dump() == "1.000001");
  CHECK(events[0]["pid"] != events[1]["pid"]);
  REQUIRE(result.conversion.files.size() == 3);
  CHECK(result.conversion.files[1].loss.complete());
  CHECK(result.conversion.files[2].loss.counts == std::map<std::string, std::uint64_t>{{"clock_unrelated", 1}});
  const auto source = memory_source(result.text, "test");
  const Result<Trace> trace = read_one_format(read_chrome_json, *source);
  REQUIRE(trace.has_value());
  CHECK(trace->hosts == std::vector<std::string>{"vm-1", "vm-2", "vm-3"});
  CHECK(trace->devices == std::vector<std::string>{"/device:GPU:0"});
}

TEST_CASE("threads have numbers that fit 32 bits, and lines of one id are one thread") {
  SyntheticTrace written;
  for (const char* thread : {"a", "b", "c", "d"}) written.add(thread, "x", 0, 1);
  xspace::XSpace space = written.to_message();
  xspace::XPlane& plane = *space.mutable_planes(0);
  plane.mutable_lines(0)->set_id(-559'038'737);
  plane.mutable_lines(1)->set_id(0);
  plane.mutable_lines(2)->set_id(12);
  plane.mutable_lines(3)->set_id(12);
  const TemporaryDirectory folder;
  const std::string text =
      converted({folder.write("a.xplane.pb", space.SerializeAsString())}, ConvertFormat::chrome).text;
  std::vector<std::uint64_t> threads;
  for (const Json& event : events_of(text, "X")) threads.push_back(event["tid"]);
  CHECK(threads == std::vector<std::uint64_t>{2'147'483'648, 2'147'483'649, 12, 12});
}

TEST_CASE("slices of a track contain one another or lie apart") {
  SyntheticTrace trace;
  for (const double start : {0.0, 100.0}) {
    trace.add("python", "$profiler.py:385 __init__", start, 10);
    trace.add("python", "train", start + 8, 60).ids["step_num"] = static_cast<std::uint64_t>(start);  // in the frame
    trace.add("python", "$loop.py:7 step", start + 12, 40);
    trace.add("python", "PjitFunction(step)", start + 12, 30);  // begins with the frame that contains it
    trace.add("python", "$loop.py:8 log", start + 60, 20);
  }
  const TemporaryDirectory folder;
  const std::string text =
      converted({folder.write("a.xplane.pb", trace.to_message().SerializeAsString())}, ConvertFormat::chrome).text;
  std::map<std::uint64_t, std::string> tracks;
  for (const Json& event : events_of(text, "M")) {
    if (event["name"] == "thread_name") tracks[event["tid"]] = event["args"]["name"];
  }
  std::map<std::string, std::vector<std::string>> names;
  std::map<std::uint64_t, std::vector<std::pair<double, double>>> spans;
  for (const Json& event : events_of(text, "X")) {
    names[tracks.at(event["tid"])].push_back(event["name"]);
    const double start = event["ts"];
    const double end = start + event["dur"].get<double>();
    for (const auto& [begun, ended] : spans[event["tid"]]) CHECK_FALSE((begun < start && start < ended && ended < end));
    spans[event["tid"]].emplace_back(start, end);
  }
  CHECK(names["python"].size() == 8);
  CHECK(names["python (2)"] == std::vector<std::string>{"train", "train"});
}

TEST_CASE("an event is a line of NDJSON with fixed members") {
  const TemporaryDirectory folder;
  const std::string file =
      folder.write("a.xplane.pb", small_space("vm", 1'700'000'000'000'000'000).SerializeAsString());
  const std::vector<std::string> lines = lines_of(converted({file, file}, ConvertFormat::ndjson).text);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == lines[1]);
  CHECK(lines[0] ==
        R"({"file":")" + file +
            R"(","host":"vm","process":"/host:CPU","thread":"main","pid":0,"tid":1,"name":"Iterator::Map",)"
            R"("long_name":"Iterator::Root::Map","op_type":"","origin_ns":"1700000000000000000","start_us":1.000001,)"
            R"("duration_us":2.5,"iterator_id":"9223372036854775808","parent_id":"7",)"
            R"("args":{"id":"9223372036854775808","parent_id":"7","name":"MapDataset:3"}})");
}

TEST_CASE("an event is a line of CSV that no spreadsheet takes for a formula") {
  SyntheticTrace written;
  written.add("=cmd()", "dense/MatMul:MatMul", 1, 2).texts["a,b"] = "line\nbreak";
  const TemporaryDirectory folder;
  const std::string file = folder.write("a.xplane.pb", written.to_xspace());
  const std::vector<std::string> lines = lines_of(converted({file}, ConvertFormat::csv).text);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "file,host,process,thread,pid,tid,name,long_name,op_type,origin_ns,start_us,duration_us,iterator_id,parent_id,"
        "args");
  CHECK(lines[1] == file +
                        ",host-1,/host:CPU,'=cmd(),0,1,dense/MatMul:MatMul,dense/MatMul:MatMul,MatMul,"
                        R"(1700000000000000000,1,2,,,"{""a,b"":""line\u000abreak""}")");
  CHECK(lines_of(converted({}, ConvertFormat::csv).text).size() == 1);
}

TEST_CASE("a file that cannot be read does not stop the others") {
  const TemporaryDirectory folder;
  const std::string good = folder.write("a.xplane.pb", small_space("vm", 1).SerializeAsString());
  const std::string bad = folder.write("b.txt", "no trace");
  const Converted result = converted({bad, good, folder / "missing"}, ConvertFormat::chrome);
  CHECK(result.conversion.files.size() == 1);
  CHECK(result.conversion.files[0].event_count == 1);
  REQUIRE(result.conversion.unreadable.size() == 2);
  CHECK(result.conversion.unreadable[0].where == bad);
  CHECK(events_of(result.text, "X").size() == 1);
}

/// Checks that files are converted alike by one thread and by several, to all formats.
void check_threads(const std::vector<std::string>& files, std::size_t window_size) {
  for (const ConvertFormat format : {ConvertFormat::chrome, ConvertFormat::ndjson, ConvertFormat::csv}) {
    const Converted expected = converted(files, format, {.threads = 1, .window_size = window_size});
    REQUIRE(expected.conversion.files.size() == files.size());
    for (const unsigned threads : {2U, 3U}) {
      CAPTURE(threads);
      CAPTURE(window_size);
      const Converted found = converted(files, format, {.threads = threads, .window_size = window_size});
      const bool is_same = found.text == expected.text;  // too long to be printed
      CHECK(is_same);
      REQUIRE(found.conversion.files.size() == files.size());
      for (std::size_t file = 0; file < files.size(); ++file) {
        CHECK(found.conversion.files[file].event_count == expected.conversion.files[file].event_count);
        CHECK(found.conversion.files[file].loss.counts == expected.conversion.files[file].loss.counts);
        CHECK(found.conversion.files[file].loss.notes == expected.conversion.files[file].loss.notes);
      }
    }
  }
}

TEST_CASE("threads change no byte of a conversion, and no count") {
  SyntheticTrace written;
  for (int step = 0; step < 500; ++step) {
    written.iterator(step % 7 == 0 ? "main" : "worker", "Iterator::Root::Map", 1, 0, 10 * step, 5);
  }
  const TemporaryDirectory folder;
  const std::string whole = written.to_xspace();
  check_threads({folder.write("a.xplane.pb", whole), folder.write("b.xplane.pb", whole.substr(0, whole.size() - 100))},
                1'000);
}

/// An event of a Chrome trace, at a time that is that of its place in the document.
std::string json_event(const char* phase, int process, int thread, int time, const std::string& members = "") {
  return fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"name":"Iterator::Map"{}}})", phase, process, thread,
                     time, members);
}

using JsonDocuments = std::map<std::string, std::vector<std::string>>;

/// Lists of events by what is special about them, each of many windows.
JsonDocuments json_documents() {
  constexpr int kCount = 1'200;
  JsonDocuments documents;
  for (int at = 0; at < kCount; ++at) {
    const std::string arguments =
        fmt::format(R"(,"args":{{"id":"{}","long_name":"Iterator::Root::Map","x":"a, \"{}\"","y":0.5}})", at, at);
    const auto add = [&](const char* document, const std::string& event) { documents[document].push_back(event); };
    add("whole", json_event("X", 1 + at % 2, at % 5, at, R"(,"dur":3)" + arguments));
    // Four begin for each three that end, on each of three threads.
    add("pairs", json_event(at / 3 % 7 < 4 ? "B" : "E", 1, at % 3, at, arguments));
    add("few pairs", at % 97 == 5    ? json_event("B", 1, 1, at, arguments)
                     : at % 97 == 90 ? json_event("E", 1, 1, at, R"(,"args":{"id":"7","z":"end"})")
                                     : json_event("X", 1, at % 2, at, R"(,"dur":0.25)"));
    add("ends after all begins", json_event(at < kCount / 2 ? "B" : "E", 1, at % 5 == 0 ? 1 : 2, at));
    constexpr const char* kPhases[] = {"i", "I", "n", "C", "s", "f", "b", "e", "N", "?", "", "X", "E", "B"};
    add("other phases", json_event(kPhases[at % std::size(kPhases)], 1, at % 3, at, R"(,"dur":-1)"));
    add("late names", json_event(at % 9 == 0 ? "B" : at % 9 == 7 ? "E" : "i", 1 + at % 4, at % 3, at));
    add("bad times", json_event("X", 1, 1, at, at % 3 == 0 ? R"(,"ts":"soon")" : R"(,"dur":1)"));
    add("a broken event", at == kCount / 2 ? R"({"ph":"X",,})" : json_event("B", 1, at % 2, at));
    add("a border within an event",
        json_event(at % 2 == 0 ? "B" : "E", 1, 1, at, R"(,"args":{"x":"},{","y":[{},{}]})"));
  }
  for (int process = 1; process <= 4; ++process) {
    std::vector<std::string>& late = documents["late names"];
    late.push_back(json_event("M", process, 0, 0, R"(,"name":"process_name","args":{"name":"/host:CPU"})"));
    late.push_back(json_event("M", process, 1, 0, R"(,"name":"thread_name","args":{"name":"main"})"));
  }
  documents["late names"].push_back(
      json_event("M", 3, 0, 0, fmt::format(R"(,"name":"process_labels","args":{{"labels":"{}"}})", kAnnotationLabel)));
  return documents;
}

TEST_CASE("threads change no byte of a conversion of a Chrome trace, whatever the borders of windows cut") {
  const TemporaryDirectory folder;
  for (const auto& document : json_documents()) {
    CAPTURE(document.first);
    const std::string text = fmt::format(R"({{"traceEvents":[{}]}})", fmt::join(document.second, ",\n"));
    const std::vector<std::string> files = {folder.write("whole.json", text), folder.write("a.json.gz", gzipped(text)),
                                            folder.write("torn.json", text.substr(0, text.size() * 3 / 4))};
    for (const std::size_t window_size : {std::size_t{1'000}, std::size_t{20'000}}) check_threads(files, window_size);
  }
}

TEST_CASE("output that cannot be written ends the conversion") {
  SyntheticTrace written;
  for (int step = 0; step < 5'000; ++step) written.iterator("main", "Iterator::Root", 1, 0, 10 * step, 5);
  const TemporaryDirectory folder;
  const std::vector<std::string> files = {folder.write("a.xplane.pb", written.to_xspace())};
  MemorySink sink;
  sink.is_full = true;
  OutputBuffer output(sink);
  const auto writer = chrome_writer(output);
  const Conversion conversion = convert(files, *writer, {});
  CHECK(conversion.files.at(0).event_count < 5'000);
  writer->end_document();
  CHECK(!output.finish().has_value());
}

}  // namespace
}  // namespace doctor::convert_test
