#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "io/byte_source.h"
#include "read_one_format.h"
#include "trace/format.h"

namespace doctor::chrome_json_test {
namespace {

/// A trace of these events as TF writes it, on one line.
Trace trace_of(const std::vector<std::string>& events) {
  std::string text = R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)";
  for (const std::string& event : events) text += event + ",";
  const std::string document = text + "{}]}";
  Result<Trace> trace = read_one_format(read_chrome_json, *memory_source(document, "test.trace.json"));
  REQUIRE(trace.has_value());
  return std::move(*trace);
}

std::string span(const std::string& name, const std::string& start, const std::string& duration,
                 const std::string& arguments = "{}", const std::string& thread = "2") {
  return R"({"ph":"X","pid":1,"tid":)" + thread + ",\"ts\":" + start + ",\"dur\":" + duration + ",\"name\":\"" + name +
         "\",\"args\":" + arguments + "}";
}

std::string process_name(const std::string& process, const std::string& name) {
  return R"({"ph":"M","pid":)" + process + R"(,"name":"process_name","args":{"name":")" + name + "\"}}";
}

std::string thread_name(const std::string& thread, const std::string& name) {
  return R"({"ph":"M","pid":1,"tid":)" + thread + R"(,"name":"thread_name","args":{"name":")" + name + "\"}}";
}

std::string_view long_name(const Trace& trace, std::size_t instance) {
  return trace.strings[trace.instances.at(instance).long_name];
}

std::string attributes_of(const Trace& trace, const IteratorInstance& instance) {
  std::string text;
  for (const Attribute& attribute : instance.attributes) {
    text += std::string(trace.strings[attribute.name]) + "=";
    text +=
        attribute.is_number ? std::to_string(attribute.number) : "'" + std::string(trace.strings[attribute.text]) + "'";
    text += ";";
  }
  return text;
}

}  // namespace

TEST_CASE("chrome traces are told by content") {
  CHECK(sniff_chrome_json(R"({"displayTimeUnit":"ns","traceEvents":[)"));
  CHECK(sniff_chrome_json("\xEF\xBB\xBF\n {\n \"traceEvents\" : ["));
  CHECK(sniff_chrome_json(R"([ {"name":"a","ph":"X"}])"));
  CHECK(sniff_chrome_json("[]"));
  CHECK(sniff_chrome_json("{\"stackFrames\":{" + std::string(kSniffLength, ' ')));
  CHECK_FALSE(sniff_chrome_json(""));
  CHECK_FALSE(sniff_chrome_json("  "));
  CHECK_FALSE(sniff_chrome_json(R"({"cols":[{"id":"rank"}]})"));
  CHECK_FALSE(sniff_chrome_json(R"([{"cols":[]}])"));
  CHECK_FALSE(sniff_chrome_json("\x0a\x12/host:CPU"));
  CHECK_FALSE(sniff_chrome_json("ph traceEvents"));
}

TEST_CASE("names are long in files of 2020, short with args.long_name later") {
  for (const bool is_old : {true, false}) {
    CAPTURE(is_old);
    const std::string batch =
        is_old ? span("Iterator::Model::Batch", "11", "8.5", R"({"id":"-5","parent_id":"7"})")
               : span("Iterator::Batch", "11", "8.5",
                      R"({"long_name":"Iterator::Model::Batch","id":"-5","parent_id":"7","name":"BatchDatasetV2:2"})");
    const Trace trace = trace_of({process_name("1", "/host:CPU"), thread_name("2", "tf_data_iterator_get_next/1"),
                                  span("IteratorGetNextOp::DoCompute", "10", "10.000000000000001"),
                                  span("Iterator::Model", "10.5", "9.25", R"({"id":"7"})"), batch});
    CHECK(trace.event_count == 3);
    CHECK(trace.iterator_event_count == 2);
    REQUIRE(trace.instances.size() == 2);
    CHECK(long_name(trace, 0) == "Iterator::Model");
    CHECK(long_name(trace, 1) == "Iterator::Model::Batch");
    CHECK(trace.strings[trace.instances[1].dataset_name] == (is_old ? "" : "BatchDatasetV2:2"));
    CHECK(trace.instances[0].id == 7);
    CHECK(trace.instances[1].id == std::uint64_t(-5));
    CHECK(trace.instances[1].parent_id == 7);
    REQUIRE(trace.lanes.size() == 1);
    CHECK(trace.strings[trace.lanes[0].name] == "tf_data_iterator_get_next/1");
    REQUIRE(trace.lanes[0].iterator_calls.size() == 2);
    CHECK(trace.lanes[0].iterator_calls[1].span.start() == 11'000'000);
    CHECK(trace.lanes[0].iterator_calls[1].span.duration() == 8'500'000);
    CHECK(trace.lanes[0].iterator_calls.subtree_end(0) == 2);
    REQUIRE(trace.lanes[0].get_next_calls.size() == 1);
    CHECK(trace.lanes[0].get_next_calls[0].end_row == 2);
    CHECK(trace.window == Interval{10'000'000, 20'000'000});
    CHECK(trace.loss.complete());
    CHECK(trace.loss.notes.empty());
  }
}

TEST_CASE("ids are 64-bit tokens, written signed, unsigned or as numbers") {
  const Trace trace = trace_of({
      span("Iterator::A", "1", "1", R"({"id":"18446744073709551615","parent_id":-2})"),
      span("Iterator::A", "3", "1", R"({"id":-1,"parent_id":"18446744073709551614"})"),
      span("Iterator::A", "5", "1", R"({"id":18446744073709551615,"parent_id":"-2"})"),
      span("Iterator::A", "7", "1", R"({"id":"none","parent_id":1.5})"),
  });
  REQUIRE(trace.instances.size() == 2);
  CHECK(trace.instances[0].event_count == 3);
  CHECK(trace.instances[0].id == std::uint64_t(-1));
  CHECK(trace.instances[0].parent_id == std::uint64_t(-2));
  CHECK_FALSE(trace.instances[1].id.has_value());
  CHECK_FALSE(trace.instances[1].parent_id.has_value());
}

TEST_CASE("attributes are numbers where their text is one") {
  const Trace trace = trace_of({span(
      "Iterator::ParallelMapV2", "1", "1",
      R"({"parallelism":"unavailable","autotune":"true","shapes":"[?]","buffer_limit":"-1","batch_size":4,"deterministic":false,"cpu_budget":"0.5","algorithm":"a\u003cb"})")});
  REQUIRE(trace.instances.size() == 1);
  CHECK(attributes_of(trace, trace.instances[0]) ==
        "parallelism='unavailable';autotune='true';buffer_limit=-1;batch_size=4;deterministic='false';cpu_budget='0.5';"
        "algorithm='a<b';");
}

TEST_CASE("ops are told by args.long_name, steps by args.step_num, the rest is only counted") {
  const Trace trace = trace_of({
      span("train 0", "0", "100", R"({"group_id":"0","step_name":"train 0","step_num":"12"})"),
      span("MatMul", "10", "5", R"({"long_name":"model/dense/MatMul:MatMul","is_eager":"0"})"),
      span("Sum:Sum", "16", "1"),
      span("IteratorGetNext", "20", "3", R"({"long_name":"IteratorGetNext:IteratorGetNext"})"),
      span("thing", "30", "1", R"({"long_name":"Iterator::Root::Map"})"),
      span("EagerExecute: __inference_f_1", "40", "1"),
      span("cub::TransformInputIterator", "41", "1"),
      span("TraceContext", "100", "50", R"({"step_num":13})"),
      R"({"ph":"i","pid":1,"tid":2,"ts":5,"name":"ThreadpoolListener::Record"})",
      R"({"ph":"C","pid":1,"tid":2,"ts":5,"name":"counter","args":{"v":1}})",
  });
  CHECK(trace.event_count == 9);  // the counter lasts no time on a thread
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].number == 12);
  CHECK(trace.steps[1].number == 13);
  CHECK(trace.steps[1].start == 100'000'000);
  REQUIRE(trace.lanes.size() == 1);
  REQUIRE(trace.lanes[0].ops.size() == 2);
  CHECK(trace.strings[trace.lanes[0].ops[0].type] == "MatMul");
  CHECK(trace.lanes[0].get_next_calls.size() == 1);
  CHECK(trace.lanes[0].iterator_calls.empty());
  CHECK(trace.loss.complete());
}

TEST_CASE("instants are events that last no time: closures of a pool begin and end with them") {
  const Trace trace = trace_of({
      thread_name("2", "tf_Compute_Eigen"),
      R"({"ph":"i","pid":1,"tid":2,"ts":5,"name":"ThreadpoolListener::StartRegion"})",
      R"({"ph":"I","pid":1,"tid":2,"ts":9,"name":"ThreadpoolListener::StopRegion"})",
  });
  CHECK(trace.event_count == 2);
  REQUIRE(trace.lanes.size() == 1);
  REQUIRE(trace.lanes[0].pool_regions.size() == 1);
  CHECK(trace.lanes[0].pool_regions[0].start() == 5'000'000);
  CHECK(trace.lanes[0].pool_regions[0].duration() == 4'000'000);
}

TEST_CASE("functions, executor spans and elements carry their ids") {
  const Trace trace = trace_of({
      span("ParallelMapProduce", "0", "20", R"({"element_id":"9"})"),
      span("Iterator::Range", "1", "2", R"({"id":"1"})"),
      span("InstantiatedCapturedFunction::RunAsync", "5", "2", R"({"id":"-3"})"),
      span("ExecutorState::Process", "30", "10", R"({"id":"-3","iter_num":"0"})"),
      span("MatMul", "31", "5", R"({"long_name":"MatMul:MatMul"})"),
      span("Iterator::ParallelMapV2", "50", "5", R"({"id":"2"})"),
      span("ParallelMapConsume", "51", "1", R"({"element_id":9})"),
      span("MakeIterator", "60", "1"),
  });
  REQUIRE(trace.lanes.size() == 1);
  const Lane& lane = trace.lanes[0];
  REQUIRE(trace.produced.size() == 1);
  CHECK(trace.unnamed_elements == 0);
  REQUIRE(lane.consumed.size() == 1);
  CHECK(lane.consumed[0].element == 0);
  REQUIRE(lane.function_runs.size() == 1);
  CHECK(lane.function_runs[0].function_id.value() == std::uint64_t(-3));
  REQUIRE(lane.ops.size() == 1);
  CHECK(lane.ops[0].function_id.value() == std::uint64_t(-3));
  CHECK(trace.makings.size() == 1);
}

TEST_CASE("events of accelerators and derived lines are counted, not kept") {
  const std::string on_device =
      R"({"ph":"X","pid":7,"tid":1,"ts":3,"dur":4,"name":"Iterator::Root","args":{"id":"1"}})";
  const std::vector<std::string> names = {process_name("7", "/device:GPU:0"), process_name("8", "/device:GPU:1 (x)"),
                                          process_name("9", "/device:CPU:0"), thread_name("5", "XLA Ops"),
                                          process_name("1", "worker-3 /host:CPU")};
  const std::vector<std::string> spans = {on_device, span("Iterator::Root", "1", "1", "{}", "5"),
                                          span("Iterator::Root", "2", "1")};
  for (const bool names_are_late : {false, true}) {
    CAPTURE(names_are_late);
    std::vector<std::string> events = names_are_late ? spans : names;
    const std::vector<std::string>& rest = names_are_late ? names : spans;
    events.insert(events.end(), rest.begin(), rest.end());
    const Trace trace = trace_of(events);
    CHECK(trace.event_count == 3);
    CHECK(trace.iterator_event_count == 1);
    CHECK(trace.devices == std::vector<std::string>{"/device:GPU:0", "/device:GPU:1"});
    CHECK(trace.hosts == std::vector<std::string>{"worker-3"});
    CHECK(trace.lanes.size() == 1);
  }
}

TEST_CASE("one late name is enough to have the document read again") {
  const std::string root = span("Iterator::Root", "1", "1");
  const Trace late_process = trace_of({root, process_name("1", "/device:TPU:0")});
  CHECK(late_process.event_count == 1);
  CHECK(late_process.iterator_event_count == 0);
  const Trace late_thread = trace_of({root, thread_name("2", "TensorFlow Name Scope")});
  CHECK(late_thread.event_count == 1);
  CHECK(late_thread.iterator_event_count == 0);
}

TEST_CASE("a host line Steps counts only where there is no other marker") {
  const std::vector<std::string> line = {thread_name("3735928559", "Steps"), span("4", "50", "10", "{}", "3735928559"),
                                         span("3", "40", "10", "{}", "3735928559"), span("Iterator::Root", "1", "1")};
  const Trace derived = trace_of(line);
  REQUIRE(derived.steps.size() == 2);
  CHECK(derived.steps[0].number == 3);
  CHECK(derived.steps[1].number == 4);
  CHECK(derived.event_count == 3);
  std::vector<std::string> with_marker = line;
  with_marker.push_back(span("train", "60", "5", R"({"step_num":"9"})"));
  const Trace marked = trace_of(with_marker);
  REQUIRE(marked.steps.size() == 1);
  CHECK(marked.steps[0].number == 9);
  CHECK(marked.event_count == 4);
}

TEST_CASE("PyTorch marks its steps by their names, and labels the processes that are devices") {
  const auto label = [](const std::string& process, const std::string& text) {
    return R"({"ph":"M","pid":)" + process + R"(,"name":"process_labels","args":{"labels":")" + text + "\"}}";
  };
  const auto on_device = [](const std::string& name) {
    return R"({"ph":"X","pid":7,"tid":20,"ts":12,"dur":1,"name":")" + name + R"(","args":{"grid":[1,1,1]}})";
  };
  const std::vector<std::string> events = {span("ProfilerStep#551", "10", "20"), span("aten::mm", "11", "2"),
                                           on_device("ProfilerStep#551"),        on_device("void at::native::kernel"),
                                           process_name("7", "python3"),         process_name("1", "python3")};
  std::vector<std::string> with_labels = events;
  // Written last, and also for devices without events.
  for (const auto& [process, text] : {std::pair("1", "CPU"), std::pair("7", "GPU 3"), std::pair("8", "GPU 4")}) {
    with_labels.push_back(label(process, text));
  }
  const Trace trace = trace_of(with_labels);
  CHECK(trace.framework == "PyTorch");
  CHECK(trace.devices == std::vector<std::string>{"/device:GPU:3"});
  REQUIRE(trace.steps.size() == 1);
  CHECK(trace.steps[0].number == 551);
  CHECK(trace.steps[0].duration == 20 * kPicosecondsPerMicrosecond);
  CHECK(trace_of(events).devices.empty());
}

TEST_CASE("a name given twice does not have the document read for ever") {
  const Trace trace = trace_of({thread_name("2", "python"), span("Iterator::Root", "1", "1"), thread_name("2", "Steps"),
                                thread_name("2", "python"), span("Iterator::Root", "3", "1")});
  CHECK(trace.event_count == 2);
  CHECK(trace.iterator_event_count == 0);
}

TEST_CASE("begin and end events make one span") {
  const Trace trace = trace_of({
      R"({"ph":"B","pid":1,"tid":2,"ts":10,"name":"Iterator::Root","args":{"id":"5"}})",
      R"({"ph":"B","pid":1,"tid":2,"ts":11,"name":"Iterator::Map","args":{"id":"6","parent_id":"5"}})",
      R"({"ph":"E","pid":1,"tid":2,"ts":14})",
      R"({"ph":"E","pid":1,"tid":2,"ts":20.5})",
      R"({"ph":"E","pid":1,"tid":2,"ts":21})",
      R"({"ph":"B","pid":1,"tid":3,"ts":30,"name":"open"})",
  });
  CHECK(trace.event_count == 2);
  REQUIRE(trace.lanes.size() == 1);
  REQUIRE(trace.lanes[0].iterator_calls.size() == 2);
  CHECK(trace.lanes[0].iterator_calls[0].span.duration() == 10'500'000);
  CHECK(trace.lanes[0].iterator_calls.subtree_end(0) == 2);
  CHECK(trace.loss.counts == std::map<std::string, std::uint64_t>{{"events_unpaired", 2}});
}

TEST_CASE("events out of order are sorted") {
  const Trace trace = trace_of({span("Iterator::B", "50", "5"), span("Iterator::Root::A", "11", "5"),
                                span("Iterator::Root", "10", "10"), span("train", "0", "5", R"({"step_num":"1"})")});
  CHECK(trace.event_count == 4);
  CHECK(trace.steps.size() == 1);
  REQUIRE(trace.lanes.size() == 1);
  REQUIRE(trace.lanes[0].iterator_calls.size() == 3);
  CHECK(trace.lanes[0].iterator_calls[0].span.start() == 10'000'000);
  CHECK(trace.lanes[0].iterator_calls.subtree_end(0) == 2);
  CHECK(trace.loss.complete());
}

TEST_CASE("what cannot be used is counted by its reason") {
  struct Case {
    std::string event;
    const char* reason;
  };
  const auto with = [](const std::string& times) {
    return R"({"ph":"X","pid":1,"tid":2,"name":"Iterator::R",)" + times + "}";
  };
  const Case cases[] = {
      {with(R"("dur":1)"), "events_without_time"},
      {with(R"("ts":1)"), "events_without_duration"},
      {with(R"("ts":NaN,"dur":1)"), "events_malformed"},
      {with(R"("ts":5,"dur":Infinity)"), "events_malformed"},
      {with(R"("ts":"soon","dur":1)"), "events_malformed"},
      {with(R"("ts":null,"dur":1)"), "events_malformed"},
      {with(R"("ts":9223372036854775808,"dur":1)"), "events_outside_time_range"},
      {with(R"("ts":1e300,"dur":1)"), "events_outside_time_range"},
      {with(R"("ts":9223372036854775807,"dur":1)"), "events_outside_time_range"},
      {with(R"("ts":5,"dur":9223372036854775807)"), "events_outside_time_range"},
      {with(R"("ts":5,"dur":-1)"), "events_negative_duration"},
      {R"({"name":"Iterator::R","ts":1,"dur":1})", "events_without_phase"},
      {R"({"ph":"X",,"ts":1})", "events_malformed"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.event);
    const Trace trace = trace_of({span("Iterator::Root", "1", "1"), c.event, span("Iterator::Root", "6", "1")});
    CHECK(trace.iterator_event_count == 2);
    CHECK(trace.loss.counts == std::map<std::string, std::uint64_t>{{c.reason, 1}});
  }
}

TEST_CASE("times may be strings, negative, or counted from 1970") {
  const Trace strings = trace_of({span("Iterator::R", "\"-2.5\"", "\"1.25\"")});
  CHECK(strings.window == Interval{-2'500'000, -1'250'000});
  const Trace epoch =
      trace_of({span("Iterator::R", "1795272473592009", "3"), span("Iterator::R", "1795272473592014", "1")});
  CHECK(epoch.window == Interval{0, 6'000'000});
  CHECK(epoch.loss.complete());
}

}  // namespace doctor::chrome_json_test
