#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/timeline/timeline_events.h"

namespace doctor::tf1_timeline_test {
namespace {

constexpr std::int64_t kFirst = 1'795'272'473'592'000;  // microseconds since 1970, as in recorded files

std::string times(int start, int duration) {
  return R"("ts":)" + std::to_string(kFirst + start) + ",\"dur\":" + std::to_string(duration);
}

/// An iterator call as TF 1.15 draws it: the long name in args.name.
std::string iterator(const std::string& long_name, int start, int duration, int lane = 0) {
  return R"({"ph":"X","cat":"Op","name":"unknown","pid":1,"tid":)" + std::to_string(lane) + "," +
         times(start, duration) + R"(,"args":{"name":")" + long_name + R"(","op":"unknown"}})";
}

std::string op(const std::string& name, const std::string& node, int start, int duration, int process = 3) {
  return R"({"ph":"X","cat":"Op","name":")" + name + R"(","pid":)" + std::to_string(process) + R"(,"tid":0,)" +
         times(start, duration) + R"(,"args":{"name":")" + node + R"(","op":")" + name + R"("}})";
}

std::string process(int id, const std::string& name) {
  return R"({"name":"process_name","ph":"M","pid":)" + std::to_string(id) + R"(,"args":{"name":")" + name + "\"}}";
}

std::string document(const std::vector<std::string>& events) {
  std::string text = "{\n    \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i > 0 ? ",\n        " : "        ") + events[i];
  return text + "\n    ]\n}";
}

Trace trace_of(const std::vector<std::string>& events) {
  const std::string text = document(events);
  const auto source = memory_source(text, "timeline.json");
  Result<Trace> trace = read_trace(*source, formats()[0], {});
  REQUIRE(trace.has_value());
  return std::move(*trace);
}

/// The rows of the lane, indented by nesting: "Model 10+50, .Map 11+40".
std::string rows_of(const Trace& trace) {
  std::string text;
  std::vector<std::uint32_t> ends;
  const Lane& lane = trace.lanes.at(0);
  for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
    const IteratorCall& call = lane.iterator_calls[row];
    while (!ends.empty() && ends.back() <= row) ends.pop_back();
    const std::string_view name = trace.strings[trace.instances[call.instance].long_name];
    text += (text.empty() ? "" : ", ") + std::string(ends.size(), '.') +
            std::string(name.substr(name.rfind("::") + 2)) + " " +
            std::to_string(call.span.start() / kPicosecondsPerMicrosecond) + "+" +
            std::to_string(call.span.duration() / kPicosecondsPerMicrosecond);
    ends.push_back(lane.iterator_calls.subtree_end(row));
  }
  return text;
}

}  // namespace

TEST_CASE("timelines are told from other Chrome traces by their process names") {
  CHECK(sniff_tf1_timeline(document({process(0, "/job:localhost/replica:0/task:0/device:CPU:0 Compute")})));
  CHECK(sniff_tf1_timeline(document({process(0, "Allocators"), process(1, "/gpu:0/stream:all Compute")})));
  CHECK(sniff_tf1_timeline(document({process(1, "/host:CPU Tensors")})));
  CHECK_FALSE(sniff_tf1_timeline(document({process(1, "/host:CPU"), process(2, "tf_Compute/-123")})));
  CHECK_FALSE(sniff_tf1_timeline(document({process(1, "Shader Compute")})));
  CHECK_FALSE(sniff_tf1_timeline("/device:CPU:0 Compute\""));
  CHECK_FALSE(sniff_tf1_timeline(""));
}

TEST_CASE("iterators nest by long name and time, whatever row they are drawn in") {
  const Trace trace = trace_of({
      process(3, "/job:localhost/replica:0/task:0/device:CPU:0 Compute"),
      op("NoOp", "_SOURCE", 0, 1),
      op("IteratorGetNext", "IteratorGetNext", 10, 100),
      iterator("IteratorGetNext:IteratorGetNext", 10, 99, 4),
      iterator("Iterator::Model", 12, 95, 1),
      iterator("Iterator::Model::FlatMap", 13, 40, 1),
      iterator("Iterator::Model::FlatMap[0]::TFRecord", 13, 38, 2),
      iterator("Iterator::Model::FlatMap", 60, 40, 3),
      iterator("Iterator::Model::FlatMap[1]::TFRecord", 61, 5, 2),
      iterator("MatMul_1:MatMul", 30, 5, 5),
  });
  CHECK(trace.files.at(0).format == "tf1_timeline");
  CHECK_FALSE(trace.lanes_are_threads);
  CHECK(trace.event_count == 9);
  CHECK(trace.iterator_event_count == 5);
  CHECK(rows_of(trace) == "Model 12+95, .FlatMap 13+40, ..TFRecord 13+38, .FlatMap 60+40, ..TFRecord 61+5");
  REQUIRE(trace.lanes.size() == 2);
  REQUIRE(trace.lanes[0].get_next_calls.size() == 1);
  CHECK(trace.lanes[0].get_next_calls[0].span.start() == 10'000'000);
  CHECK(trace.lanes[0].get_next_calls[0].first_row == 0);
  CHECK(trace.lanes[0].get_next_calls[0].end_row == 5);
  REQUIRE(trace.lanes[1].ops.size() == 1);
  CHECK(trace.strings[trace.lanes[1].ops[0].type] == "MatMul");
  REQUIRE(trace.instances.size() == 4);
  CHECK(trace.strings[trace.instances[1].long_name] == "Iterator::Model::FlatMap");
  CHECK(trace.instances[1].event_count == 2);
  CHECK(trace.instances[1].first_start == 13'000'000);
  CHECK(trace.instances[1].last_start == 60'000'000);
  CHECK_FALSE(trace.instances[1].id.has_value());
  CHECK(trace.window == Interval{10'000'000, 110'000'000});
  CHECK(trace.loss.complete());
}

TEST_CASE("truncated times stick out by up to 2 us") {
  const auto nested = [](int start, int duration) {
    const TimelineSpan calls[] = {
        {100'000'000, 50'000'000, "Iterator::Model"},
        {start * kPicosecondsPerMicrosecond, duration * kPicosecondsPerMicrosecond, "Iterator::Model::Map"}};
    return nest_timeline(calls, {}).parent[1];
  };
  CHECK(nested(100, 50) == 0);
  CHECK(nested(140, 12) == 0);
  CHECK(nested(140, 13) == kNoSpan);
  CHECK(nested(100, 52) == 0);
  CHECK(nested(160, 1) == kNoSpan);
}

TEST_CASE("the parent is the call with the longest proper prefix") {
  const auto parent_name = [](std::string_view outer, std::string_view inner) {
    const TimelineSpan calls[] = {{0, 100, outer}, {10, 50, inner}};
    return nest_timeline(calls, {}).parent[1] == 0;
  };
  CHECK(parent_name("Iterator::A", "Iterator::A::B"));
  CHECK(parent_name("Iterator::A", "Iterator::A::B::C"));
  CHECK(parent_name("Iterator::A", "Iterator::A[12]::B"));
  CHECK(parent_name("Iterator::A[1]::B", "Iterator::A[1]::B[0]::C"));
  CHECK_FALSE(parent_name("Iterator::A[1]::B", "Iterator::A[2]::B::C"));
  CHECK_FALSE(parent_name("Iterator::A", "Iterator::A"));
  CHECK_FALSE(parent_name("Iterator::A", "Iterator::AB::C"));
  CHECK_FALSE(parent_name("Iterator::A::B", "Iterator::A"));
  CHECK_FALSE(parent_name("Iterator::A", "Iterator::A[x]::B"));
  CHECK_FALSE(parent_name("Iterator::A", "Iterator::A[]::B"));
}

TEST_CASE("calls outside of any GetNext stand between the GetNext calls, by start") {
  const Trace trace = trace_of({
      op("NoOp", "_SOURCE", 0, 1),
      op("IteratorGetNext", "IteratorGetNext", 50, 20),
      iterator("Iterator::Model", 51, 10),
      iterator("Iterator::Model::Prefetch::Map", 0, 40),
      iterator("Iterator::Model::Prefetch::Map::Range", 5, 1),
      iterator("Iterator::Model::Prefetch::Map", 65, 40),
      op("IteratorGetNextV2", "again", 100, 20),
      iterator("Iterator::Model", 101, 10),
  });
  CHECK(rows_of(trace) == "Map 0+40, .Range 5+1, Model 51+10, Map 65+40, Model 101+10");
  const Lane& lane = trace.lanes[0];
  REQUIRE(lane.get_next_calls.size() == 2);
  CHECK(lane.get_next_calls[0].first_row == 2);
  CHECK(lane.get_next_calls[0].end_row == 3);
  CHECK(lane.get_next_calls[1].first_row == 4);
  CHECK(lane.get_next_calls[1].end_row == 5);
}

TEST_CASE("sessions of TF2 have GetNext ops only") {
  const Trace trace = trace_of({op("IteratorGetNext", "IteratorGetNext", 43, 4752), op("Sum", "Sum", 5000, 11)});
  CHECK(trace.event_count == 2);
  CHECK(trace.iterator_event_count == 0);
  // The consumer's, and one of the ops: without iterators they are all that shows what ran over GetNext.
  REQUIRE(trace.lanes.size() == 2);
  const auto has_calls = [](const Lane& lane) { return !lane.get_next_calls.empty(); };
  const auto consumer = std::find_if(trace.lanes.begin(), trace.lanes.end(), has_calls);
  REQUIRE(consumer != trace.lanes.end());
  REQUIRE(consumer->get_next_calls.size() == 1);
  CHECK(consumer->get_next_calls[0].span.duration() == 4'752'000'000);
  CHECK(consumer->get_next_calls[0].first_row == consumer->get_next_calls[0].end_row);
}

TEST_CASE("without the op's node another drawing of GetNext stands for it, the outermost once") {
  const Trace trace = trace_of({iterator("IteratorGetNext:IteratorGetNext", 10, 50),
                                iterator("IteratorGetNext_1:IteratorGetNext", 12, 20),
                                iterator("IteratorGetNext:IteratorGetNext", 100, 50)});
  REQUIRE(trace.lanes.size() == 1);
  CHECK(trace.lanes[0].get_next_calls.size() == 2);
}

TEST_CASE("what is drawn twice counts once") {
  const std::vector<std::string> step = {op("IteratorGetNext", "IteratorGetNext", 10, 100),
                                         iterator("Iterator::Model", 12, 95), iterator("MatMul:MatMul", 30, 5)};
  std::vector<std::string> twice = step;
  twice.insert(twice.end(), step.begin(), step.end());
  const Trace trace = trace_of(twice);
  CHECK(trace.event_count == 6);
  CHECK(trace.iterator_event_count == 1);
  CHECK(trace.lanes[0].get_next_calls.size() == 1);
  CHECK(trace.lanes[1].ops.size() == 1);
}

TEST_CASE("an op that TF 1.15 draws as a node and as the kernel in it is handed on as one") {
  /// Names of the events that are marked as another drawing.
  class Repeats final : public EventSink {
   public:
    std::string names;
    int events = 0;
    void take(const TraceEvent& event) override {
      ++events;
      if (event.is_repeat) names += std::string(event.name) + " " + std::to_string(event.duration / 1'000'000) + ", ";
    }
  };
  const auto kernel = [](const std::string& name, int start, int duration) {
    return iterator(name, start, duration, 4);
  };
  const auto repeats = [](const std::vector<std::string>& events) {
    const std::string text = document(events);
    const auto source = memory_source(text, "timeline.json");
    Repeats sink;
    const Result<EventTotals> totals = read_tf1_timeline(*source, sink, WantedPlanes::all, {});
    REQUIRE(totals.has_value());
    CHECK(sink.events == static_cast<int>(totals->event_count));
    return sink.names;
  };
  const std::string host = process(1, "/host:CPU Compute");
  const std::string device = process(3, "/job:localhost/replica:0/task:0/device:CPU:0 Compute");
  const std::string node = op("MatMul", "dense/MatMul", 100, 50);
  // Its end may seem a microsecond later than that of the node.
  CHECK(repeats({host, device, node, kernel("dense/MatMul:MatMul", 101, 50)}) == "dense/MatMul:MatMul 50, ");
  // Functions run ops of the same name before, beside and after it.
  CHECK(repeats({host, device, node, kernel("dense/MatMul:MatMul", 90, 30), kernel("dense/MatMul:MatMul", 102, 45),
                 kernel("dense/MatMul:MatMul", 120, 10), kernel("dense/MatMul:MatMul", 160, 20)}) ==
        "dense/MatMul:MatMul 45, ");
  CHECK(repeats({host, device, node, kernel("dense/MatMul:MatMul", 101, 60)}).empty());
  CHECK(repeats({host, device, node, kernel("other/MatMul:MatMul", 101, 40)}).empty());
  CHECK(repeats({host, device, node, kernel("Iterator::Model::Map", 101, 40)}).empty());
  // Other versions draw nodes only, and the node of a device is the launch.
  CHECK(repeats({device, node, op("MatMul", "dense/MatMul", 100, 50)}).empty());
  CHECK(repeats({host, process(3, "/job:localhost/replica:0/task:0/device:GPU:0 Compute"), node,
                 kernel("dense/MatMul:MatMul", 101, 40)})
            .empty());
}

TEST_CASE("flows, tensors and counters are no loss; devices are named") {
  const Trace trace = trace_of({
      process(5, "/job:localhost/replica:0/task:0/device:GPU:0 Compute"),
      process(6, "/gpu:0/stream:all Compute"),
      process(7, "/device:GPU:1/memcpy Compute"),
      process(3, "/job:localhost/replica:0/task:0/cpu:0 Compute"),
      R"({"ph":"s","cat":"DataFlow","name":"a","pid":1,"tid":1,"ts":1795272473592030,"id":0})",
      R"({"ph":"t","cat":"DataFlow","name":"a","pid":1,"tid":0,"ts":1795272473592043,"id":0})",
      R"({"ph":"N","cat":"Tensor","name":"a","pid":1,"tid":0,"ts":1,"id":0})",
      R"({"ph":"O","name":"a","pid":1,"tid":0,"ts":1,"id":0,"args":{"snapshot":{"x":[{},{}]}}})",
      R"({"ph":"D","name":"a","pid":1,"tid":0,"ts":1})",
      R"({"ph":"C","name":"a","pid":1,"ts":1,"args":{"cpu":0}})",
      iterator("Iterator::Model", 5, 10),
      R"({"ph":"X","name":"k:MatMul","pid":5,"tid":0,"ts":1795272473592005,"dur":1})",
  });
  CHECK(trace.event_count == 2);
  CHECK(trace.devices == std::vector<std::string>{"/device:GPU:0", "/device:GPU:1"});
  CHECK(trace.lanes.size() == 1);
  CHECK(trace.loss.complete());
}

TEST_CASE("damage in a timeline is counted") {
  const std::string text =
      document({iterator("Iterator::Model", 0, 10), R"({"ph":"X","name":"a","ts":1795272473592000})",
                R"({"ph":"X","name":"a","dur":1})", R"({"ph":"X","name":"a","ts":NaN,"dur":1})",
                R"({"ph":"X","name":"a","ts":1e30,"dur":1})", R"({"ph":"X","name":"a","ts":1795272473592000,"dur":-1})",
                R"({"ph":"X","name":"a","ts":5,"dur":1})", R"({"name":"a"})"});
  const auto source = memory_source(std::string_view(text).substr(0, text.size() - 3), "timeline.json");
  const Result<Trace> trace = read_trace(*source, formats()[0], {});
  REQUIRE(trace.has_value());
  CHECK(trace->iterator_event_count == 1);
  CHECK(trace->loss.counts == std::map<std::string, std::uint64_t>{{"document_cut_off", 1},
                                                                   {"events_malformed", 1},
                                                                   {"events_negative_duration", 1},
                                                                   {"events_outside_time_range", 2},
                                                                   {"events_without_duration", 1},
                                                                   {"events_without_phase", 1},
                                                                   {"events_without_time", 1}});
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto cut = memory_source(std::string_view(text).substr(0, size), "timeline.json");
    CHECK((read_trace(*cut, formats()[0], {}).has_value() || size < 200));
  }
}

TEST_CASE("long names of any depth nest") {
  std::string name = "Iterator::Model";
  std::vector<std::string> events;
  for (int level = 0; level < 300; ++level) {
    events.push_back(iterator(name, level, 1000 - 2 * level));
    name += "::Map";
  }
  const Trace trace = trace_of(events);
  REQUIRE(trace.lanes[0].iterator_calls.size() == 300);
  for (std::uint32_t row = 0; row < 300; ++row) CHECK(trace.lanes[0].iterator_calls.subtree_end(row) == 300);
}

}  // namespace doctor::tf1_timeline_test
