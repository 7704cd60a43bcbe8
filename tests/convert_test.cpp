// Events written in other formats: exact, complete, and read back with the same diagnosis.

#include "convert/convert.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "collected_events.h"
#include "convert/event_text.h"
#include "diagnose/catalog.h"
#include "io/gzip_sink.h"
#include "pipeline.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "tree/build_tree.h"
#include "tree/iterator_forest.h"

namespace doctor::convert_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Converted {
  std::string text;
  Conversion conversion;
};

Converted converted(const std::vector<std::string>& files, ConvertFormat format, const WorkOptions& work = {}) {
  MemorySink sink;
  OutputBuffer output(sink);
  const auto writer = make_event_writer(format, output);
  Converted result;
  result.conversion = convert(files, *writer, work);
  writer->end_document();
  REQUIRE(output.finish().has_value());
  CHECK(sink.is_finished);
  result.text = sink.bytes;
  return result;
}

std::string report_of(const std::string& file) {
  const std::vector<std::string> files = {file};
  const Analysis analysis = diagnose_files(files, {.rules = all_rules()});
  Json report = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  report["trace"].erase("files");
  return report.dump(1);
}

Trace trace_of(const std::vector<std::string>& files) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  std::vector<ByteSource*> parts;
  for (const std::string& file : files) {
    Result<std::unique_ptr<ByteSource>> source = open_source(file);
    REQUIRE(source.has_value());
    parts.push_back(sources.emplace_back(std::move(*source)).get());
  }
  if (parts.size() > 1) return std::move(read_traces(parts).trace);
  Result<Trace> trace = read_trace(*parts[0]);
  REQUIRE(trace.has_value());
  return std::move(*trace);
}

/// What a trace shows of its pipelines, as text: times count from the start of its window, and attributes are sorted.
class TracePrinter {
 public:
  explicit TracePrinter(const Trace& trace) : trace_(trace), forest_(build_tree(trace)) {}

  std::string print() {
    add("events {} iterators {}", trace_.event_count, trace_.iterator_event_count);
    for (std::size_t index = 0; index < forest_.iterators.size(); ++index) print_iterator(index);
    for (const RootCall& call : forest_.root_calls) {
      add("get_next {} {} {}", span(call.span), lane(call.lane), iterator(call.root));
    }
    for (const Lane& lane : trace_.lanes) print_lane(lane);
    for (const StepMarker& step : trace_.steps) add("step {} {}", step.number, span({step.start, step.end()}));
    for (const PipelineMaking& making : trace_.makings) add("making {} {}", span(making.span), making.structure);
    return text_;
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<const Values&...> format, const Values&... values) {
    text_ += fmt::format(format, values...) + "\n";
  }
  std::string_view string(StringId id) const { return trace_.strings[id]; }
  std::string_view lane(LaneId id) const { return string(trace_.lanes[index_of(id)].name); }
  std::string iterator(IteratorId id) const { return id == kNoIterator ? "-" : forest_[id].long_name; }
  std::string span(Interval times) const {
    return fmt::format("[{}, {}]", times.start - trace_.window.start, times.end - trace_.window.start);
  }
  std::string attributes(const std::vector<Attribute>& unsorted) const {
    std::map<std::string_view, std::string> sorted;
    for (const Attribute& one : unsorted) {
      sorted[string(one.name)] = one.is_number ? std::to_string(one.number) : std::string(string(one.text));
    }
    std::string line;
    for (const auto& [name, value] : sorted) line += fmt::format(" {}={}", name, value);
    return line;
  }

  void print_iterator(std::size_t index) {
    const LogicalIterator& one = forest_.iterators[index];
    add("{} '{}' of {} calls {} instances {}:{}", one.long_name, one.dataset_name, iterator(one.parent), one.call_count,
        one.instances.size(), attributes(one.attributes));
    for (const InstanceId id : one.instances) {
      const IteratorInstance& instance = trace_.instances[index_of(id)];
      add("  {} {} {} calls{}", instance.id.value_or(0), instance.parent_id.value_or(0), instance.event_count,
          attributes(instance.attributes));
    }
  }
  void print_lane(const Lane& lane) {
    add("lane {}", string(lane.name));
    const auto row = [](std::uint32_t index) { return static_cast<std::int64_t>(static_cast<std::int32_t>(index)); };
    const auto of = [this](const PackedSpan& packed) { return span({packed.start(), packed.end()}); };
    for (std::size_t index = 0; index < lane.iterator_calls.size(); ++index) {
      const IteratorCall& call = lane.iterator_calls[index];
      add("  {} {} -{}", iterator(forest_.iterator_of(call)), of(call.span), call.subtree_end);
    }
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      add("  run {} {} {}", run.function_id.value(), of(run.span), row(run.row));
    }
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      add("  produced {} {}", lane.produced[index].element_id.value(), row(lane.produced[index].row));
    }
    for (std::size_t index = 0; index < lane.consumed.size(); ++index) {
      add("  consumed {} {}", lane.consumed[index].element_id.value(), row(lane.consumed[index].row));
    }
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      add("  op {} {} {}", string(lane.ops[index].type), lane.ops[index].function_id.value(), of(lane.ops[index].span));
    }
    for (std::size_t index = 0; index < lane.pool_regions.size(); ++index) {
      add("  region {}", of(lane.pool_regions[index]));
    }
  }

  const Trace& trace_;
  IteratorForest forest_;
  std::string text_;
};

std::string printed(const Trace& trace) {
  return TracePrinter(trace).print();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

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

}  // namespace

TEST_CASE("microseconds are exact to the picosecond") {
  struct Row {
    Picoseconds time;
    const char* text;
  };
  const std::vector<Row> rows = {
      {0, "0"},
      {1, "0.000001"},
      {1'500'000, "1.5"},
      {12'000'345, "12.000345"},
      {-1, "-0.000001"},
      {-2'000'000, "-2"},
      {INT64_MAX, "9223372036854.775807"},
      {INT64_MIN, "-9223372036854.775808"},
  };
  for (const Row& row : rows) {
    std::string text;
    append_microseconds(text, row.time);
    CHECK(text == row.text);
  }
}

TEST_CASE("foreign text becomes valid JSON and UTF-8") {
  struct Row {
    std::string text;
    const char* json;
  };
  const std::vector<Row> rows = {
      {"plain", R"("plain")"},
      {"", R"("")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\n\x01\x7f", "\"\\u000a\\u0001\x7f\""},
      {"\xC3\xA9", "\"\xC3\xA9\""},
      {"a\xff\xc3", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {std::string("a\0b", 3), R"("a\u0000b")"},
  };
  for (const Row& row : rows) {
    std::string text;
    append_json_string(text, row.text);
    CHECK(text == row.json);
    CHECK(Json::accept(text));
  }
}

TEST_CASE("plain arguments are written at once, and read as the others do") {
  const auto text_of = [](std::string_view text) {
    EventArgument argument;
    argument.name = "name";
    argument.text = text;
    return argument;
  };
  EventArgument least;
  least.name = "least";
  least.type = ArgumentType::integer;
  least.integer = INT64_MIN;
  EventArgument most;
  most.name = "most";
  most.type = ArgumentType::unsigned_integer;
  most.unsigned_integer = UINT64_MAX;
  EventArgument real = least;
  real.name = "real";
  real.type = ArgumentType::real;
  real.real = 1e300;
  EventArgument quoted = least;
  quoted.name = "a \"b\"";
  std::vector<EventArgument> many;
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q", "r"};
  for (const std::string& name : names) many.emplace_back(most).name = name;
  const std::vector<std::vector<EventArgument>> rows = {
      {least},
      {least, most, text_of("=1, 2")},
      {text_of("")},
      {text_of("say \"a\""), most},
      {text_of("back\\slash"), most},
      {text_of("\x7f\n")},
      {text_of("\xC3\xA9\xff")},
      {quoted},
      {most, most, least},
      {most, real},
      many,
  };
  for (const std::vector<EventArgument>& row : rows) {
    std::string text = "before";
    append_arguments(text, {}, row);
    std::string by_parts;  // a long name is not in arguments that are written at once
    append_arguments(by_parts, "x", row);
    const std::string begin = R"({"long_name":"x",)";
    REQUIRE(by_parts.starts_with(begin));
    CHECK(text == "before{" + by_parts.substr(begin.size()));
    CHECK(Json::accept(text.substr(6)));
    std::string field = "before";
    append_csv_arguments(field, row);
    CHECK(field == "before" + csv_field(text.substr(6)));
  }
  std::string none;
  append_csv_arguments(none, {});
  CHECK(none == csv_field("{}"));
}

TEST_CASE("arguments are an object of strings in which no name comes twice") {
  std::vector<EventArgument> arguments(4);
  arguments[0].name = arguments[1].name = "a";
  arguments[1].type = ArgumentType::integer;
  arguments[1].integer = -5;
  arguments[2].name = "long_name";
  arguments[2].type = ArgumentType::real;
  arguments[2].real = 0.1;
  arguments[3].name = "a_2";
  arguments[3].type = ArgumentType::unsigned_integer;
  arguments[3].unsigned_integer = UINT64_MAX;
  std::string text;
  append_arguments(text, "long", arguments);
  CHECK(text == R"({"long_name":"long","a":"","a_2":"-5","long_name_2":"0.1","a_2_2":"18446744073709551615"})");
  text.clear();
  append_arguments(text, {}, {});
  CHECK(text == "{}");

  std::vector<EventArgument> many(1'000);
  for (EventArgument& argument : many) argument.name = "same";
  text.clear();
  append_arguments(text, {}, many);
  CHECK(Json::parse(text).size() == many.size());
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
  const Result<Trace> trace = read_chrome_json(*source);
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

TEST_CASE("threads change no byte of a conversion, and no count") {
  SyntheticTrace written;
  for (int step = 0; step < 500; ++step) {
    written.iterator(step % 7 == 0 ? "main" : "worker", "Iterator::Root::Map", 1, 0, 10 * step, 5);
  }
  const TemporaryDirectory folder;
  const std::string whole = written.to_xspace();
  const std::vector<std::string> files = {folder.write("a.xplane.pb", whole),
                                          folder.write("b.xplane.pb", whole.substr(0, whole.size() - 100))};
  for (const ConvertFormat format : {ConvertFormat::chrome, ConvertFormat::ndjson, ConvertFormat::csv}) {
    const Converted expected = converted(files, format);
    for (const unsigned threads : {2U, 3U}) {
      CAPTURE(threads);
      const Converted found = converted(files, format, {.threads = threads, .window_size = 1'000});
      CHECK(found.text == expected.text);
      REQUIRE(found.conversion.files.size() == 2);
      for (std::size_t file = 0; file < 2; ++file) {
        CHECK(found.conversion.files[file].event_count == expected.conversion.files[file].event_count);
        CHECK(found.conversion.files[file].loss.counts == expected.conversion.files[file].loss.counts);
      }
    }
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

TEST_CASE("a converted XSpace is diagnosed like the XSpace") {
  // Of a file that is cut off, only what stands before the cut can be written, so the loss is not in the copy.
  const std::string cut_off = "cut_off_tf2.4.xplane.pb";
  std::size_t compared = 0;
  const TemporaryDirectory folder;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_dir() + "/testdata")) {
    const std::string name = entry.path().filename().string();
    const bool is_xspace = name.ends_with(".xplane.pb") || name.ends_with(".xplane.pb.gz");
    const bool is_small = entry.is_regular_file() && entry.file_size() < (std::uintmax_t{1} << 20);
    const bool is_for_fuzzing = entry.path().string().find("/fuzz/") != std::string::npos;
    // A copy in another folder has nothing beside it.
    const fs::path beside = entry.path().parent_path();
    const bool has_sidecar = fs::exists(beside / "dataset-lines.json") || fs::exists(beside / "memory.csv");
    if (!is_xspace || !is_small || is_for_fuzzing || has_sidecar || name == cut_off) continue;
    CAPTURE(name);
    const Converted result = converted({entry.path().string()}, ConvertFormat::chrome);
    CHECK(result.conversion.files.at(0).loss.complete());
    const std::string copy = folder.write("copy.trace.json", result.text);
    CHECK(report_of(copy) == report_of(entry.path().string()));
    ++compared;
  }
  CHECK(compared >= 10);
}

TEST_CASE("a converted TF1 timeline is diagnosed like the timeline") {
  const std::string file = source_dir() + "/testdata/traces/tf1_sequential_map.timeline.json";
  const TemporaryDirectory folder;
  const std::string copy = folder.write("copy.trace.json", converted({file}, ConvertFormat::chrome).text);
  std::string report = report_of(copy);
  // A host without a name is called by its file.
  const std::string copied = "copy.trace.json";
  for (std::size_t at = report.find(copy); at != std::string::npos; at = report.find(copy)) {
    report.replace(at, copy.size(), file);
  }
  for (std::size_t at = report.find(copied); at != std::string::npos; at = report.find(copied)) {
    report.replace(at, copied.size(), "tf1_sequential_map.timeline.json");
  }
  CHECK(report == report_of(file));
}

TEST_CASE("a trace and its conversion hold the same pipelines, calls and times") {
  std::size_t compared = 0;
  const TemporaryDirectory folder;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_dir() + "/testdata/traces")) {
    std::vector<std::string> files;
    if (entry.is_directory()) {
      for (const fs::directory_entry& step : fs::directory_iterator(entry)) files.push_back(step.path().string());
    } else if (!entry.path().string().ends_with(".expected.json")) {
      files.push_back(entry.path().string());
    }
    if (files.empty()) continue;
    CAPTURE(entry.path().filename().string());
    const std::string copy = folder.write("copy.trace.json", converted(files, ConvertFormat::chrome).text);
    const std::vector<std::string> original = lines_of(printed(trace_of(files)));
    CHECK(lines_of(printed(trace_of({copy}))) == original);
    compared += original.size() > 1 ? 1 : 0;
  }
  CHECK(compared >= 25);
}

TEST_CASE("begin and end events are one event with the arguments of both, also converted") {
  struct Row {
    std::string what;
    std::vector<std::string> events;
    std::uint64_t calls;
    std::uint64_t unpaired;
    const char* tree;  ///< of the innermost iterator
  };
  const auto begin = [](int time, const std::string& name, const std::string& args) {
    return fmt::format(R"({{"ph":"B","pid":1,"tid":2,"ts":{},"name":"Iterator::{}"{}}})", time, name,
                       args.empty() ? "" : R"(,"args":{)" + args + "}");
  };
  const auto end = [](int time, const std::string& args) {
    return fmt::format(R"({{"ph":"E","pid":1,"tid":2,"ts":{}{}}})", time,
                       args.empty() ? "" : R"(,"args":{)" + args + "}");
  };
  const std::string root = R"("long_name":"Iterator::Root","id":"5")";
  const std::string map =
      R"("long_name":"Iterator::Root::Map","id":"6","parent_id":"5","deterministic":"true","name":"MapDataset:1")";
  const std::string map_name = R"("long_name":"Iterator::Root::Map","name":"MapDataset:1")";
  const std::string map_ids = R"("id":"6","parent_id":"5","deterministic":"true")";
  const char* const whole =
      "Iterator::Root::Map 'MapDataset:1' of Iterator::Root calls 1 instances 1: deterministic=true";
  const std::vector<Row> rows = {
      {"on B", {begin(10, "Root", root), begin(12, "Map", map), end(14, ""), end(20, "")}, 2, 0, whole},
      {"on E", {begin(10, "Root", ""), begin(12, "Map", ""), end(14, map), end(20, root)}, 2, 0, whole},
      {"on both", {begin(10, "Root", root), begin(12, "Map", map_name), end(14, map_ids), end(20, "")}, 2, 0, whole},
      {"on both, that of E counts",
       {begin(10, "Root", root), begin(12, "Map", map + R"(,"parallelism":"7")"),
        end(14, R"("deterministic":"false","parallelism":8)"), end(20, "")},
       2,
       0,
       "Iterator::Root::Map 'MapDataset:1' of Iterator::Root calls 1 instances 1: deterministic=false parallelism=8"},
      {"unmatched",
       {end(5, map), begin(8, "Root", root), begin(10, "Root", root), begin(12, "Map", ""), end(14, map), end(20, "")},
       2,
       2,
       whole},
  };
  const TemporaryDirectory folder;
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::string text = R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}})";
    for (const std::string& event : row.events) text += "," + event;
    const std::string file = folder.write("pairs.trace.json", text + "]}");
    const Converted result = converted({file}, ConvertFormat::chrome);
    const std::string copy = folder.write("copy.trace.json", result.text);
    const Trace trace = trace_of({file});
    CHECK(trace.iterator_event_count == row.calls);
    std::map<std::string, std::uint64_t> lost;
    if (row.unpaired > 0) lost["events_unpaired"] = row.unpaired;
    CHECK(trace.loss.counts == lost);
    CHECK(result.conversion.files.at(0).loss.counts == lost);
    CHECK(printed(trace).find(row.tree) != std::string::npos);
    CHECK(lines_of(printed(trace_of({copy}))) == lines_of(printed(trace)));
  }
}

TEST_CASE("what is compressed is what was written") {
  std::string text;
  for (int row = 0; row < 50'000; ++row) text += "row " + std::to_string(row * 7919 % 1000) + "\n";
  for (const bool is_fastest : {true, false}) {
    MemorySink target;
    const auto sink = is_fastest ? gzip_sink(target) : zlib_gzip_sink(target);
    for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size * 3 % 100'000 + 1) {
      REQUIRE(sink->write(std::string_view(text).substr(at, size)).has_value());
    }
    REQUIRE(sink->finish().has_value());
    CHECK(target.is_finished);
    CHECK(target.bytes.size() < text.size() / 2);
    const auto source = memory_source(target.bytes, "test.gz");
    CHECK(source->is_compressed());
    std::string read(text.size() + 1, '\0');
    std::size_t size = 0;
    while (const auto got = source->read(read.data() + size, read.size() - size)) {
      if (*got == 0) break;
      size += *got;
    }
    read.resize(size);
    CHECK(read == text);

    MemorySink full;
    full.is_full = true;
    const auto lost = is_fastest ? gzip_sink(full) : zlib_gzip_sink(full);
    const bool is_written = lost->write(text) && lost->finish();
    CHECK_FALSE(is_written);
  }
}

}  // namespace doctor::convert_test
