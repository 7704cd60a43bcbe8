// A conversion is read as the trace that it was made of.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "collected_events.h"
#include "convert/convert.h"
#include "convert/event_text.h"
#include "converted_trace.h"
#include "diagnose/catalog.h"
#include "io/gzip.h"
#include "pipeline.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "tree/iterator_forest.h"

namespace doctor::convert_test {
namespace {

namespace fs = std::filesystem;

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
    for (const ProducedElement& produced : trace_.produced) {
      add("produced on {} {} {}", lane(produced.lane), row(produced.row), row(produced.last_run));
    }
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
  std::string_view lane(LaneId id) const { return string(trace_.lanes[id].name); }
  static std::int64_t row(std::uint32_t index) { return static_cast<std::int32_t>(index); }
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
      const IteratorInstance& instance = trace_.instances[id];
      add("  {} {} {} calls{}", instance.id.value_or(0), instance.parent_id.value_or(0), instance.event_count,
          attributes(instance.attributes));
    }
  }
  /// Not one that holds nothing of these: steps that Python's functions overlap in part have a track of their own.
  void print_lane(const Lane& lane) {
    const std::size_t begin = text_.size();
    add("lane {}", string(lane.name));
    const std::size_t content = text_.size();
    const auto of = [this](const PackedSpan& packed) { return span({packed.start(), packed.end()}); };
    for (std::uint32_t index = 0; index < lane.iterator_calls.size(); ++index) {
      const IteratorCall& call = lane.iterator_calls[index];
      add("  {} {} -{}", iterator(forest_.iterator_of(call)), of(call.span), lane.iterator_calls.subtree_end(index));
    }
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      add("  run {} {} {}", run.function_id.value(), of(run.span), row(run.row));
    }
    for (std::size_t index = 0; index < lane.consumed.size(); ++index) {
      add("  consumed {} {}", row(lane.consumed[index].element), row(lane.consumed[index].row));
    }
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      add("  op {} {} {}", string(lane.ops[index].type), lane.ops[index].function_id.value(), of(lane.ops[index].span));
    }
    for (std::size_t index = 0; index < lane.pool_regions.size(); ++index) {
      add("  region {}", of(lane.pool_regions[index]));
    }
    if (text_.size() == content) text_.resize(begin);
  }

  const Trace& trace_;
  IteratorForest forest_;
  std::string text_;
};

std::string printed(const Trace& trace) {
  return TracePrinter(trace).print();
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
    const bool has_sidecar = fs::exists(beside / "dataset-lines.json") || fs::exists(beside / "memory.csv") ||
                             fs::exists(beside / "recording.json");
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

}  // namespace
}  // namespace doctor::convert_test
