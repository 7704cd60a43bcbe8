#include "trace/chrome/json_events.h"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "trace/chrome/json_text.h"
#include "trace/json_number.h"

namespace doctor::json_events_test {
namespace {

/// What one reading yields: a line per event, and what stood around them.
struct Reading {
  std::vector<std::string> events;
  JsonDocument document;
};

std::string describe(const JsonEvent& event) {
  const auto time = [](NumberText text, const MicrosecondTime& value) {
    if (text == NumberText::missing) return std::string("-");
    if (text == NumberText::malformed) return std::string("malformed");
    if (text == NumberText::out_of_range) return std::string("range");
    return std::to_string(value.microseconds) + "us" + std::to_string(value.picoseconds);
  };
  return std::string(1, event.phase) + " " + std::string(event.name) + " " + std::to_string(event.process) + "/" +
         std::to_string(event.thread) + " " + time(event.start_text, event.start) + " " +
         time(event.duration_text, event.duration) + " " + std::string(event.arguments);
}

Reading read_once(std::string_view text, const JsonReadOptions& options) {
  const auto source = memory_source(text, "test");
  JsonEventReader reader(*source, options);
  Reading reading;
  while (const JsonEventBatch* batch = reader.next()) {
    CHECK_FALSE(batch->events.empty());
    for (const JsonEvent& event : batch->events) reading.events.push_back(describe(event));
  }
  CHECK(reader.next() == nullptr);
  reading.document = reader.document();
  return reading;
}

JsonReadOptions small(std::size_t window_size, std::size_t largest_event) {
  JsonReadOptions options;
  options.work.window_size = window_size;
  options.largest_event = largest_event;
  return options;
}

/// Reads with one, two and three threads, which must make no difference.
Reading read(std::string_view text, JsonReadOptions options = {}) {
  options.work.threads = 1;
  Reading alone = read_once(text, options);
  for (const unsigned threads : {2u, 3u}) {
    CAPTURE(threads);
    options.work.threads = threads;
    const Reading together = read_once(text, options);
    CHECK(together.events == alone.events);
    CHECK(together.document.has_events == alone.document.has_events);
    CHECK(together.document.is_cut_off == alone.document.is_cut_off);
    CHECK(together.document.bytes == alone.document.bytes);
    CHECK(together.document.malformed_events == alone.document.malformed_events);
    CHECK(together.document.oversized_events == alone.document.oversized_events);
    CHECK(together.document.read_error.has_value() == alone.document.read_error.has_value());
  }
  return alone;
}

std::string event(const std::string& name, const std::string& members = "") {
  return R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":2,"name":")" + name + "\"" + members + "}";
}

std::string seen(const std::string& name, const std::string& arguments = "") {
  return "X " + name + " 1/2 1us0 2us0 " + arguments;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("what follows the array of events is not taken for events, wherever windows end") {
  std::string text = "{\"traceEvents\":[" + event("a") + "," + event("b") + "],\"x\":[" + event("no");
  for (int number = 0; number < 400; ++number) text += "," + event("no");  // more than one window
  text += "]}";
  for (const std::size_t window : {std::size_t{100}, std::size_t{150}, std::size_t{400}, std::size_t{4'000}}) {
    CAPTURE(window);
    const Reading reading = read(text, small(window, 1 << 20));
    CHECK(reading.events == Lines{seen("a"), seen("b")});
    CHECK_FALSE(reading.document.is_cut_off);
    CHECK(reading.document.malformed_events == 0);
  }
}

TEST_CASE("the members of arguments are told apart unless nobody wants them") {
  const std::string text = "[" + event("a", R"(,"args":{"id":"1","x":[{}],"y":2})") + "]";
  for (const bool splits : {true, false}) {
    const auto source = memory_source(text, "test");
    JsonReadOptions options;
    options.splits_arguments = splits;
    JsonEventReader reader(*source, options);
    const JsonEventBatch* const batch = reader.next();
    REQUIRE(batch != nullptr);
    const std::span<const JsonMember> members = batch->arguments_of(batch->events[0]);
    CHECK(batch->events[0].arguments == R"({"id":"1","x":[{}],"y":2})");
    REQUIRE(members.size() == (splits ? 3 : 0));
    if (!splits) continue;
    CHECK((members[0].key == "id" && members[0].value == "1" && members[0].is_string));
    CHECK((members[1].key == "x" && members[1].value == "[{}]" && !members[1].is_string));
    CHECK((members[2].key == "y" && members[2].value == "2" && !members[2].is_string));
  }
}

TEST_CASE("arguments end where their bracket closes, whether their members are told apart or not") {
  for (const char* const arguments :
       {"{}", R"({"a":1})", R"({ "a" : 1 , "b" : [ ] })", R"({"a":1,})", R"({"a"})", R"({"a" 1})", R"({"a":})",
        R"({1:2})", R"({"a":{"b":[1,{}]},"c":"}"})", R"({"a":[1})", R"({"a":1])", R"({"a":1,,"b":2})", R"({"a":{"b":1)",
        R"([1])", R"({"a":"b"  }  )", R"({{}})"}) {
    CAPTURE(arguments);
    const std::string text =
        "[" + event("before") + "," + event("it", std::string(R"(,"args":)") + arguments) + "," + event("after") + "]";
    JsonReadOptions whole;
    whole.splits_arguments = false;
    const Reading told_apart = read(text);
    const Reading together = read(text, whole);
    CHECK(told_apart.events == together.events);
    CHECK(told_apart.document.malformed_events == together.document.malformed_events);
  }
}

TEST_CASE("escapes are undone") {
  struct Case {
    const char* raw;
    const char* text;
  };
  const Case cases[] = {
      {"plain", "plain"},
      {R"(a\"b\\c\/d)", "a\"b\\c/d"},
      {R"(\b\f\n\r\t)", "\b\f\n\r\t"},
      {R"(\u003clambda\u003e)", "<lambda>"},
      {R"(\u00e9\u20AC)", "\u00e9\u20ac"},
      {R"(\ud83d\ude00)", "\U0001f600"},
      {R"(\ud83d!)", "\ufffd!"},
      {R"(\ude00)", "\ufffd"},
      {R"(\u12)", R"(\u12)"},
      {R"(\q)", R"(\q)"},
      {"end\\", "end\\"},
  };
  std::string scratch;
  for (const Case& c : cases) {
    CAPTURE(c.raw);
    CHECK(unescape_json(c.raw, scratch) == c.text);
  }
}

TEST_CASE("members of an object are walked over in order") {
  std::string seen_members;
  JsonMembers members(R"( { "a" : "x\"}" , "b":[1,{"c":"]"}],"d":-1.5e3 ,"e":{} , "f":true})");
  for (JsonMember member; members.next(member);) {
    seen_members += std::string(member.key) + (member.is_string ? "=s:" : "=") + std::string(member.value) + ";";
  }
  CHECK(seen_members == R"(a=s:x\"};b=[1,{"c":"]"}];d=-1.5e3;e={};f=true;)");
  for (const char* broken : {"", "{", "[1]", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":[", "{:1}", "{1:2}"}) {
    CAPTURE(broken);
    JsonMembers none(broken);
    JsonMember member;
    CHECK_FALSE(none.next(member));
  }
}

TEST_CASE("the array of events is found wherever it stands") {
  const std::string list = "[" + event("a") + "," + event("b") + "]";
  const std::string documents[] = {
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":)" + list + "}",
      R"({"traceEvents":)" + list + R"(,"stackFrames":{"1":{"name":"]}"},"2":{}},"x":[{},{}]})",
      R"({"a":"\"traceEvents\":[","b":[["]",{"traceEvents":[1]}]],"c":1.5,"d":null,"traceEvents":)" + list + "}",
      R"({"traceEvents":null, "traceEvents" : )" + list + "}",
      "\xEF\xBB\xBF \n\t\r" + list,
      list + "\n\n",
      list + " trailing garbage ]}{[",
      R"({"traceEvents":[)" + event("a") + " ,\n " + event("b") + " , \n {} \n ] }",
      R"({"traceEvents":[{},)" + event("a") + ",{}," + event("b") + ",{}]}",
      "[" + event("a") + ",," + event("b") + ",]",
      "[" + event("a") + "\n" + event("b") + "]",
  };
  for (const std::string& document : documents) {
    CAPTURE(document);
    for (const std::size_t window : {16u, 64u, 100u, 1000u, 1u << 20}) {
      CAPTURE(window);
      const Reading reading = read(document, small(window, 1 << 20));
      CHECK(reading.events == Lines{seen("a"), seen("b")});
      CHECK(reading.document.has_events);
      CHECK_FALSE(reading.document.is_cut_off);
      CHECK(reading.document.malformed_events == 0);
      CHECK(reading.document.bytes == document.size());
    }
  }
}

TEST_CASE("events are read in either order of their keys, the last of equal keys counts") {
  const Reading reading = read(R"([{"args": {"name": "/host:CPU"}, "name": "process_name", "ph": "M", "pid": 701},
    {"args": {"id": "-1"}, "dur": 5910.416, "name": "n", "ph": "X", "pid": 7, "tid": 1245263503, "ts": 46.008},
    {"ts":1,"ts":2,"name":"old","name":"new","ph":"B","args":{"a":1},"args":{"b":2}},
    {"name":"<lambda> \u00e9\"","ph":"","pid":"18446744073709551615","tid":-1,"cat":"c","id":3,"unknown":[[{}]]},
    {"ph":"X","name":null,"args":7,"ts":"12.5","dur":"-3","pid":[1],"tid":{}}])");
  REQUIRE(reading.events.size() == 5);
  CHECK(reading.events[0] == R"(M process_name 701/0 - - {"name": "/host:CPU"})");
  CHECK(reading.events[1] == R"(X n 7/1245263503 46us8000 5910us416000 {"id": "-1"})");
  CHECK(reading.events[2] == R"(B new 0/0 2us0 - {"b":2})");
  const std::string largest = "18446744073709551615";
  CHECK(reading.events[3] == std::string(1, '\0') + " <lambda> \u00e9\" " + largest + "/" + largest + " - - ");
  CHECK(reading.events[4].ends_with(" 12us500000 -3us0 "));
}

TEST_CASE("processes and threads may have names instead of numbers") {
  // The last event of a document comes in a batch of its own.
  const auto source = memory_source(R"([{"pid":"a","tid":"a"},{"pid":"b","tid":"7"},{"pid":"a","tid":7},{}])", "test");
  JsonEventReader reader(*source);
  const JsonEventBatch* batch = reader.next();
  REQUIRE(batch != nullptr);
  REQUIRE(batch->events.size() == 3);
  CHECK(batch->events[0].process == batch->events[2].process);
  CHECK(batch->events[0].process != batch->events[1].process);
  CHECK(batch->events[1].thread == 7);
  CHECK(batch->events[2].thread == 7);
}

TEST_CASE("a malformed event is dropped and counted, its neighbours survive") {
  const std::string malformed[] = {
      R"({"name":"x","ph":"X",,"ts":1})",      // duplicate comma
      R"({"name":"x" "ph":"X"})",              // missing comma
      R"({"name" "x"})",                       // missing colon
      R"({"name":"x)",                         // missing quote
      R"({"name":x"})",                        // missing quote
      "{\"name\":\"a\x01z\"}",                 // control character
      std::string("{\"name\":\"a\0z\"}", 14),  // NUL byte in a string
      std::string("{\"name\":\0\"a\"}", 12),   // NUL byte outside
      "{\"name\":\"\xff\xfe\"}",               // invalid UTF-8
      "{\"name\":\"\xed\xa0\x80\"}",           // a surrogate in UTF-8
      R"({"name":"x","args":{"a":[1,2})",      // brackets not closed
      R"({"name"})",                           // no value
      "17",
      "\"text\"",
      "null",
      "[1,2,3]",
      R"([{"a":1},{"b":2}])",
      "#",
      "}",
  };
  for (const std::string& broken : malformed) {
    CAPTURE(broken);
    for (const std::size_t window : {16u, 80u, 1u << 20}) {
      CAPTURE(window);
      const Reading reading =
          read("[" + event("a") + "," + broken + "," + event("b") + "," + event("c") + "]", small(window, 1 << 20));
      CHECK(reading.document.malformed_events >= 1);
      REQUIRE(reading.events.size() >= 2);
      CHECK(reading.events.front() == seen("a"));
      CHECK(reading.events.back() == seen("c"));
    }
  }
}

TEST_CASE("a file that was made large and never written to ends where its zeros begin") {
  const std::string event = R"({"ph":"X","name":"a"})";
  const std::string hole(1000, '\0');
  const std::string after = "," + event + "," + event + "]";
  CHECK(read("[" + event + "," + hole + after).events.size() == 2);
  const Reading reading = read("[" + event + "," + std::string(std::size_t{3} << 20, '\0') + after);
  CHECK(reading.events.size() == 1);
  CHECK(reading.document.is_cut_off);
  CHECK(reading.document.malformed_events == 1);
}

TEST_CASE("only one event is lost to one fault") {
  for (const char* broken : {R"({"name":"x","ph":"X",,"ts":1})", R"({"name":"x})", "{\"name\":\"\xff\"}", "17",
                             R"({"name":"x","a":[[1})", R"({"name":"x","args":{"a":1})", "[3[4]]", R"([{"a" 1}])"}) {
    CAPTURE(broken);
    std::string text = "[";
    for (int i = 0; i < 100; ++i)
      text += event(std::to_string(i)) + "," + (i % 7 == 3 ? broken + std::string(",") : "");
    text += "{}]";
    const Reading reading = read(text, small(1024, 1 << 20));
    CHECK(reading.events.size() == 100);
    CHECK(reading.document.malformed_events == 14);
    CHECK_FALSE(reading.document.is_cut_off);
  }
}

TEST_CASE("what looks like the border of two events within one does not cut it") {
  const std::string tricky[] = {
      R"(,"args":{"list":[{"a":1},{"b":2},{"c":3}]})",
      R"(,"args":{"text":"},{"})",
      R"(,"args":{"text":"]},{\"},{\"ph\":\"X\"},{"})",
      R"(,"args":{"a":{"b":[{},{},[{},{}]]}})",
      R"(,"cat":"} , {","id":[{},{}])",
  };
  for (const std::string& members : tricky) {
    CAPTURE(members);
    std::string text = "[";
    Lines expected;
    for (int i = 0; i < 40; ++i) {
      text += event(std::to_string(i), members) + ",\n";
      const bool has_arguments = members.starts_with(",\"args\"");
      expected.push_back(seen(std::to_string(i), has_arguments ? members.substr(8) : ""));
    }
    text += "{}]";
    for (std::size_t window = 16; window < 1500; window += 7) {
      const Reading reading = read(text, small(window, 1 << 20));
      CHECK(reading.document.malformed_events == 0);
      REQUIRE(reading.events == expected);
    }
  }
}

TEST_CASE("an event longer than a window is read, beyond the limit it is dropped and counted") {
  const std::string long_name(5'000, 'n');
  const std::string text =
      "[" + event("a") + "," + event(long_name, R"(,"args":{"l":[{},{},{}]})") + "," + event("b") + "]";
  const Reading whole = read(text, small(64, 100'000));
  CHECK(whole.events.size() == 3);
  const Reading without = read(text, small(64, 1'000));
  CHECK(without.events == Lines{seen("a"), seen("b")});
  CHECK(without.document.oversized_events == 1);
  CHECK(without.document.malformed_events == 0);
}

TEST_CASE("nesting of any depth is survived") {
  constexpr std::size_t kLevels = 100'000;
  const std::string deep = std::string(kLevels, '[') + std::string(kLevels, ']');
  const Reading closed = read("[" + event("a", ",\"x\":" + deep) + "," + event("b") + "]", small(1024, 1 << 20));
  CHECK(closed.events == Lines{seen("a"), seen("b")});
  const Reading open = read("[" + event("a") + "," + std::string(kLevels, '['), small(1024, 1 << 20));
  CHECK(open.events == Lines{seen("a")});
  CHECK(open.document.is_cut_off);
  std::string objects;
  for (std::size_t i = 0; i < kLevels; ++i) objects += "{\"a\":";
  CHECK(read(objects).events.empty());
  CHECK(read("[" + objects).document.is_cut_off);
}

TEST_CASE("a document cut anywhere yields the events before the cut") {
  const std::string text = R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)" +
                           event("a", R"(,"args":{"t":"},{","l":[{},{}]})") + "," + event("b") + ",\n" +
                           event("\\u003cc\\\"") + R"(,{}],"more":{"a":[1]}})";
  const std::size_t list_start = text.find('[');
  const std::size_t list_end = text.rfind("],");
  const Lines all = read(text).events;
  REQUIRE(all.size() == 3);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    for (const std::size_t window : {16u, 64u, 1u << 20}) {
      const Reading reading = read(std::string_view(text).substr(0, size), small(window, 1 << 20));
      REQUIRE(reading.events.size() <= all.size());
      CHECK(Lines(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(reading.events.size())) == reading.events);
      CHECK(reading.document.has_events == (size > list_start));
      CHECK(reading.document.is_cut_off == (size > list_start && size <= list_end));
      CHECK(reading.document.malformed_events == 0);
      CHECK(reading.document.bytes == size);
    }
  }
}

TEST_CASE("text that is no event array yields nothing") {
  for (const char* text :
       {"", " ", "\xEF\xBB\xBF", "{}", "{", "17", "\"[{}]\"", "hello", "{\"a\":1}", "{\"traceEvents\":7}", "{\"a\"",
        "{\"a\":", "{:", "{,}", "{\"traceEvents\"", "{\"traceEvents\":{}}", "}", "]"}) {
    CAPTURE(text);
    const Reading reading = read(text, small(16, 64));
    CHECK(reading.events.empty());
    CHECK_FALSE(reading.document.has_events);
  }
}

// JsonBatchParser rests on an interface that is internal to simdjson; see CMakeLists.txt.
TEST_CASE("simdjson's first stage finds what the reader walks over") {
  const simdjson::padded_string text(std::string(R"({"a" : [1, "b}\",", true]} ,{})"));
  std::unique_ptr<simdjson::internal::dom_parser_implementation> structure;
  const simdjson::implementation* const implementation = simdjson::get_active_implementation();
  REQUIRE(implementation->create_dom_parser_implementation(text.size(), 1, structure) == simdjson::SUCCESS);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  REQUIRE(structure->stage1(bytes, text.size(), simdjson::stage1_mode::regular) == simdjson::SUCCESS);
  std::string found;
  for (std::size_t index = 0; index < structure->n_structural_indexes; ++index) {
    found += text.data()[structure->structural_indexes[index]];
  }
  CHECK(found == R"({":[1,",t]},{})");
}

}  // namespace doctor::json_events_test
