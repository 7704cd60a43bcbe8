// Every event of a trace with all it carries, of each format; what is left out or damaged is counted.

#include "trace/event_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "collected_events.h"
#include "read_events.h"
#include "synthetic_trace.h"
#include "trace/format.h"

namespace doctor::event_reader_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

std::string document(const std::vector<std::string>& events) {
  std::string text = R"({"displayTimeUnit":"ns","traceEvents":[)";
  for (const std::string& event : events) text += event + ",";
  return text + "{}]}";
}

TEST_CASE("a sink that has enough ends the reading") {
  SyntheticTrace written;
  for (int step = 0; step < 9; ++step) written.iterator("main", "Iterator::Root", 1, 0, 10 * step, 5);
  for (const std::string& bytes : {written.to_xspace(), written.to_chrome_json()}) {
    Reading reading;
    reading.sink.most = 2;
    read_into(reading, bytes);
    CHECK(reading.sink.events.size() == 2);
    CHECK(reading.totals.event_count == 2);
  }
}

TEST_CASE("an event of a Chrome trace comes with its process, thread and arguments, named before or after it") {
  const std::vector<std::string> names = {
      R"({"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}})",
      R"({"ph":"M","pid":7,"tid":9,"name":"thread_name","args":{"name":"ma\"in"}})"};
  const std::string event =
      R"({"ph":"X","pid":7,"tid":9,"ts":1.5,"dur":0.25,"name":"Iterator::Map","args":{"long_name":"Iterator::Root::Map",)"
      R"("id":"18446744073709551615","parent_id":-3,"big":18446744073709551615,"share":0.5,"on":true,"list":[1,{"a":2}],)"
      R"("text\"1":"a\\b"}})";
  for (const bool is_first : {true, false}) {
    Reading reading;
    read_into(reading,
              document(is_first ? std::vector{names[0], names[1], event} : std::vector{event, names[0], names[1]}));
    CHECK(reading.totals.loss.complete());
    const CollectedEvent& read = reading.sink.events.at(0);
    CHECK(read.plane == "/host:CPU");
    CHECK(read.plane_kind == PlaneKind::host);
    CHECK(read.line == "ma\"in");
    CHECK(read.line_id == 9);
    CHECK(read.name == "Iterator::Root::Map");
    CHECK(read.short_name == "Iterator::Map");
    CHECK(read.start == 1'500'000);
    CHECK(read.duration == 250'000);
    CHECK(read.texts ==
          std::map<std::string, std::string>{
              {"id", "18446744073709551615"}, {"list", R"([1,{"a":2}])"}, {"on", "true"}, {"text\"1", "a\\b"}});
    CHECK(read.integers == std::map<std::string, std::int64_t>{{"parent_id", -3}});
    CHECK(read.unsigned_integers == std::map<std::string, std::uint64_t>{{"big", UINT64_MAX}});
    CHECK(read.reals == std::map<std::string, double>{{"share", 0.5}});
  }
}

TEST_CASE("pairs and instants of a Chrome trace are events, everything else is counted") {
  Reading reading;
  read_into(reading, document({
                         R"({"ph":"B","pid":1,"tid":1,"ts":10,"name":"outer","args":{"a":"1"}})",
                         R"({"ph":"B","pid":1,"tid":1,"ts":11,"name":"inner"})",
                         R"({"ph":"E","pid":1,"tid":1,"ts":13})",
                         R"({"ph":"E","pid":1,"tid":1,"ts":20,"args":{"b":"2"}})",
                         R"({"ph":"E","pid":1,"tid":1,"ts":21})",
                         R"({"ph":"B","pid":1,"tid":1,"ts":22,"name":"open"})",
                         R"({"ph":"i","pid":1,"tid":1,"ts":23,"name":"mark"})",
                         R"({"ph":"s","pid":1,"tid":1,"ts":23,"id":1,"name":"flow"})",
                         R"({"ph":"C","pid":1,"ts":23,"name":"counter"})",
                         R"({"ph":"b","pid":1,"ts":23,"name":"async"})",
                         R"({"ph":"N","pid":1,"ts":23,"name":"object"})",
                         R"({"ph":"?","pid":1,"ts":23,"name":"new"})",
                         R"({"pid":1,"ts":23,"name":"none"})",
                         R"({"ph":"X","pid":1,"tid":1,"ts":23,"name":"endless"})",
                         R"({"ph":"X","pid":1,"tid":1,"ts":23,"dur":-1,"name":"backwards"})",
                     }));
  const std::vector<CollectedEvent>& events = reading.sink.events;
  REQUIRE(events.size() == 3);
  CHECK(events[0].name == "inner");
  CHECK(events[0].duration == 2 * kUs);
  CHECK(events[1].name == "outer");
  CHECK(events[1].duration == 10 * kUs);
  CHECK(events[1].texts == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}});
  CHECK(events[2].name == "mark");
  CHECK(events[2].start == 23 * kUs);
  CHECK(events[2].duration == 0);
  CHECK(reading.totals.loss.counts == std::map<std::string, std::uint64_t>{{"async_events", 1},
                                                                           {"counter_events", 1},
                                                                           {"events_negative_duration", 1},
                                                                           {"events_of_unknown_phase", 1},
                                                                           {"events_unpaired", 2},
                                                                           {"events_without_duration", 1},
                                                                           {"events_without_phase", 1},
                                                                           {"flow_events", 1},
                                                                           {"object_events", 1}});
  CHECK(reading.totals.event_count == 3 + 10);
}

TEST_CASE("processes of a Chrome trace are hosts, devices or none of the job's") {
  struct Row {
    const char* title;
    const char* plane;
    PlaneKind kind;
  };
  const std::vector<Row> rows = {
      {"/host:CPU", "/host:CPU", PlaneKind::host},
      {"vm-1 /host:CPU", "/host:CPU", PlaneKind::host},
      {"vm-1 /device:GPU:0", "/device:GPU:0", PlaneKind::device},
      {"/job:worker/replica:0/task:0/device:GPU:0 Compute", "/device:GPU:0", PlaneKind::device},
      {"/device:CPU:0 Compute", "/device:CPU:0 Compute", PlaneKind::host},
      {"/host:python-tracer", "/host:python-tracer", PlaneKind::other},
      {"python3", "python3", PlaneKind::host},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    Reading reading;
    const std::string name = std::string(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":")") + row.title;
    const std::string text = document({name + "\"}}", R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x"})"});
    const auto bytes = memory_source(text, "test");
    REQUIRE(read_chrome_json(*bytes, reading.sink).has_value());
    CHECK(reading.sink.events.at(0).plane == row.plane);
    CHECK(reading.sink.events.at(0).plane_kind == row.kind);
    Reading devices;
    const auto again = memory_source(text, "test");
    REQUIRE(read_chrome_json(*again, devices.sink, WantedPlanes::devices).has_value());
    CHECK(devices.sink.events.size() == (row.kind == PlaneKind::device ? 1 : 0));
  }
}

TEST_CASE("times of a Chrome trace that counts from 1970 are exact") {
  Reading reading;
  read_into(reading, document({R"({"ph":"X","pid":1,"tid":1,"ts":1795272473592000.125,"dur":1,"name":"x"})",
                               R"({"ph":"X","pid":1,"tid":1,"ts":1795272473592002.25,"dur":1,"name":"y"})"}));
  CHECK(reading.sink.header.origin_ns == 1'795'272'473'592'000'000);
  CHECK(reading.sink.events.at(0).start == 125'000);
  CHECK(reading.sink.events.at(1).start == 2'250'000);
}

TEST_CASE("a Chrome trace that is cut off yields the events before the cut") {
  const std::string text = document({R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x"})",
                                     R"({"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"y"})"});
  Reading reading;
  read_into(reading, text.substr(0, text.size() - 12));
  CHECK(reading.sink.events.size() == 1);
  CHECK(reading.totals.loss.counts == std::map<std::string, std::uint64_t>{{"document_cut_off", 1}});

  Reading damaged;
  read_into(damaged, document({R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x})",
                               R"({"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"y"})"}));
  CHECK(damaged.totals.loss.counts == std::map<std::string, std::uint64_t>{{"events_malformed", 1}});
  CHECK(damaged.totals.event_count == damaged.sink.events.size() + 1);

  const auto empty = memory_source("{\"a\":1}", "test");
  CollectingSink sink;
  CHECK(!read_chrome_json(*empty, sink).has_value());
}

TEST_CASE("events of a TF1 timeline are named by their node and its op") {
  struct Row {
    const char* name;
    const char* node;
    const char* op;
    const char* long_name;
  };
  const std::vector<Row> rows = {
      {"unknown", "Iterator::Model::Map", "unknown", "Iterator::Model::Map"},
      {"unknown", "linear/Cast:Cast", "unknown", "linear/Cast:Cast"},
      {"MatMul", "linear/MatMul", "MatMul", "linear/MatMul:MatMul"},
      {"IteratorGetNext", "IteratorGetNext", "IteratorGetNext", "IteratorGetNext:IteratorGetNext"},
      {"unknown", "_SOURCE", "unknown", "_SOURCE"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Reading reading;
    read_into(reading, document({R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:CPU:0 Compute"}})",
                                 std::string(R"({"ph":"X","pid":1,"tid":0,"ts":1795272473592000,"dur":2,"name":")") +
                                     row.name + R"(","args":{"name":")" + row.node + R"(","op":")" + row.op + "\"}}",
                                 // Three weeks later, in the same list of events.
                                 R"({"ph":"X","pid":1,"tid":0,"ts":1797000000000000,"dur":2,"name":"later"})"}));
    CHECK(reading.totals.loss.complete());
    const CollectedEvent& read = reading.sink.events.at(0);
    CHECK(read.name == row.long_name);
    CHECK(read.short_name == row.name);
    CHECK(read.texts == std::map<std::string, std::string>{{"name", row.node}, {"op", row.op}});
    CHECK(read.duration == 2 * kUs);
    CHECK(reading.sink.events.size() == 2);
  }
}

TEST_CASE("a value is a token in whatever type it was written") {
  EventArgument argument;
  argument.type = ArgumentType::text;
  argument.text = "18446744073709551615";
  CHECK(argument.as_integer() == -1);
  argument.text = "x";
  CHECK(!argument.as_integer());
  argument.type = ArgumentType::unsigned_integer;
  argument.unsigned_integer = 5;
  CHECK(argument.as_integer() == 5);
  argument.type = ArgumentType::real;
  CHECK(!argument.as_integer());
}

}  // namespace
}  // namespace doctor::event_reader_test
