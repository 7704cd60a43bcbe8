// A Chrome trace as a document: cut off, full, failing midway, empty, or none.

#include <doctest/doctest.h>

#include <string>

#include "collected_events.h"
#include "io/byte_source.h"
#include "read_one_format.h"
#include "temporary_directory.h"
#include "trace/format.h"
#include "trace/torn.h"

namespace doctor::chrome_document_test {
namespace {

std::string event_at(int start) {
  return R"({"ph":"X","pid":1,"tid":2,"ts":)" + std::to_string(start) +
         R"(,"dur":1,"name":"Iterator::Root","args":{}})";
}

Result<Trace> read(std::string_view text) {
  const auto source = memory_source(text, "test.trace.json");
  return read_one_format(read_chrome_json, *source);
}

TEST_CASE("a cut document tells what was read") {
  const std::string text = R"({"traceEvents":[)" + event_at(1) + "," + event_at(5);
  const Result<Trace> trace = read(text + ",{\"ph\":\"X");
  REQUIRE(trace.has_value());
  CHECK(trace->iterator_event_count == 2);
  CHECK(trace->loss.counts == std::map<std::string, std::uint64_t>{{"document_cut_off", 1}});
  REQUIRE(trace->loss.notes.size() == 1);
  CHECK(trace->loss.notes[0].find("2 events were read") != std::string::npos);
  const std::string cut = R"({"traceEvents":[)" + event_at(1) + "]";
  for (std::size_t size = 0; size <= cut.size(); ++size) read(std::string_view(cut).substr(0, size));
}

/// As the profiler writes a document: names, then events, then an empty object.
std::string document_of(std::size_t events) {
  std::string text = R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},)";
  for (std::size_t event = 0; event < events; ++event) text += R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1},)";
  return text + "{}]}";
}

TEST_CASE("a document with as many events as the profiler writes at most was cut by it") {
  const auto is_cut = [](std::size_t events) {
    const Result<Trace> trace = read(document_of(events));
    REQUIRE(trace);
    CollectingSink sink;
    sink.most = 1;
    const Result<EventTotals> totals = read_chrome_json(*memory_source(document_of(events), "test"), sink);
    REQUIRE(totals);
    CHECK(totals->loss.counts == trace->loss.counts);
    CHECK(is_torn(trace->loss) != trace->loss.complete());
    return trace->loss.counts.contains("document_cut_by_profiler");
  };
  CHECK(is_cut(1'000'000));
  CHECK_FALSE(is_cut(999'999));
  CHECK_FALSE(is_cut(7));
  const EnvironmentVariable most("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS", "7");
  CHECK(is_cut(7));
  CHECK_FALSE(is_cut(8));
  const Result<Trace> trace = read(document_of(7));
  REQUIRE(trace->loss.notes.size() == 1);
  CHECK(trace->loss.notes[0] ==
        "test.trace.json: the profiler wrote only the first 7 events; the .xplane.pb of the recording is whole");
}

TEST_CASE("a source that fails midway yields what came before") {
  class Failing : public ByteSource {
   public:
    explicit Failing(std::string_view bytes) : bytes_(memory_source(bytes, name_)) {}
    Result<std::size_t> read(char* buffer, std::size_t capacity) override {
      Result<std::size_t> count = bytes_->read(buffer, capacity);
      if (count && *count == 0) return fail("the gzip stream ends early", name_);
      return count;
    }
    Result<std::uint64_t> skip(std::uint64_t count) override { return bytes_->skip(count); }
    Result<void> rewind() override { return bytes_->rewind(); }
    const std::string& name() const override { return name_; }
    std::uint64_t stored_size() const override { return 77; }
    std::uint64_t stored_position() const override { return 0; }
    bool is_compressed() const override { return true; }

   private:
    std::string name_ = "cut.gz";
    std::unique_ptr<ByteSource> bytes_;
  };
  const std::string text = "[" + event_at(1) + "," + event_at(5) + ",{\"ph\"";
  Failing source(text);
  const Result<Trace> trace = read_trace(source);
  REQUIRE(trace.has_value());
  CHECK(trace->iterator_event_count == 2);
  CHECK(trace->files == std::vector<TraceFile>{{"cut.gz", "chrome_json", 77}});
  CHECK(trace->loss.counts == std::map<std::string, std::uint64_t>{{"input_unreadable_after", 1}});
  REQUIRE(trace->loss.notes.size() == 1);
  CHECK(trace->loss.notes[0].find("ends early") != std::string::npos);
  Failing empty("[");
  CHECK_FALSE(read_one_format(read_chrome_json, empty).has_value());
}

TEST_CASE("a document without events is an empty trace, other text is an error") {
  for (const char* text : {"[]", "[{}]", R"({"traceEvents":[]})", R"({"traceEvents":[{}]})"}) {
    CAPTURE(text);
    const Result<Trace> trace = read(text);
    REQUIRE(trace.has_value());
    CHECK(trace->event_count == 0);
    CHECK(trace->loss.complete());
  }
  for (const char* text : {"", "{}", "{\"a\":1}", "hello", "[1,2]", "[", "{\"traceEvents\":[",
                           R"([{"cols":[]},{"rows":[]}])", R"({"traceEvents":{"a":1}})", "[nonsense]"}) {
    CAPTURE(text);
    const Result<Trace> trace = read(text);
    REQUIRE_FALSE(trace.has_value());
    CHECK_FALSE(trace.error().what.empty());
    CHECK(trace.error().where == "test.trace.json");
    CHECK_FALSE(trace.error().next.empty());
  }
}

}  // namespace
}  // namespace doctor::chrome_document_test
