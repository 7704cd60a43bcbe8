#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "small_pipeline.h"
#include "synthetic_trace.h"
#include "trace/wire.h"

namespace doctor::xspace_test {
namespace {}  // namespace

TEST_CASE("an XSpace yields iterators with 64-bit ids, attributes and step markers") {
  SyntheticTrace written = small_pipeline();
  std::rotate(written.events.begin(), written.events.end() - 1, written.events.end());  // the step starts first
  const Trace trace = written.to_trace();
  CHECK(trace.files.at(0).format == "xspace");
  CHECK(trace.loss.complete());
  CHECK(trace.event_count == 4);
  REQUIRE(trace.instances.size() == 2);
  const IteratorInstance& map = trace.instances[1];
  CHECK(trace.strings[map.long_name] == "Iterator::Root::Map");
  CHECK(trace.strings[map.dataset_name] == "MapDataset:3");
  CHECK(*map.id == 1ull << 63);
  CHECK(*map.parent_id == 1);
  REQUIRE(trace.steps.size() == 1);
  CHECK(trace.steps[0].number == 3);
  REQUIRE(trace.hosts.size() == 1);
  CHECK(trace.hosts[0] == "host-1");
  CHECK(trace.lanes[0].iterator_calls[1].span.duration() == 80 * kPicosecondsPerMicrosecond);
  bool has_budget = false;
  for (const Attribute& attribute : trace.instances[0].attributes) {
    has_budget = has_budget || (trace.strings[attribute.name] == "cpu_budget" && attribute.number == 4);
  }
  CHECK(has_budget);
}

TEST_CASE("a signed and an unsigned form of an id are the same token") {
  xspace::XSpace space = small_pipeline().to_message();
  int changed = 0;
  for (auto& line : *space.mutable_planes(0)->mutable_lines()) {
    for (auto& event : *line.mutable_events()) {
      for (auto& stat : *event.mutable_stats()) {
        if (stat.value_case() != xspace::XStat::kUint64Value) continue;
        stat.set_int64_value(static_cast<std::int64_t>(stat.uint64_value()));
        ++changed;
      }
    }
  }
  REQUIRE(changed > 0);
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  CHECK(*trace->instances[1].id == 1ull << 63);
}

TEST_CASE("lines that start at different times are put on one clock") {
  SyntheticTrace written;
  written.iterator("a", "Iterator::Root", 1, 0, 0, 10);
  written.iterator("b", "Iterator::Root::Map", 2, 1, 0, 10);
  xspace::XSpace space = written.to_message();
  space.mutable_planes(0)->mutable_lines(1)->set_timestamp_ns(1'700'000'000'000'000'000 - 5'000);
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  CHECK(trace->lanes[0].iterator_calls[0].span.start() == 0);
  CHECK(trace->lanes[1].iterator_calls[0].span.start() == -5 * kPicosecondsPerMicrosecond);
}

TEST_CASE("a line out of order is read as if it were sorted") {
  SyntheticTrace sorted = small_pipeline();
  std::rotate(sorted.events.begin(), sorted.events.end() - 1, sorted.events.end());
  SyntheticTrace reversed = sorted;
  std::reverse(reversed.events.begin(), reversed.events.end());
  const Trace expected = sorted.to_trace();
  const Trace trace = reversed.to_trace();
  REQUIRE(trace.lanes.size() == 1);
  REQUIRE(trace.lanes[0].iterator_calls.size() == expected.lanes[0].iterator_calls.size());
  for (std::uint32_t row = 0; row < trace.lanes[0].iterator_calls.size(); ++row) {
    CHECK(trace.lanes[0].iterator_calls[row].span.start() == expected.lanes[0].iterator_calls[row].span.start());
    CHECK(trace.lanes[0].iterator_calls.subtree_end(row) == expected.lanes[0].iterator_calls.subtree_end(row));
  }
  CHECK(trace.event_count == expected.event_count);
}

TEST_CASE("an XSpace whose bytes are there twice says so") {
  const std::string once = small_pipeline().to_xspace();
  CHECK(SyntheticTrace::read(once)->loss.complete());
  const Trace twice = *SyntheticTrace::read(once + once);
  CHECK(twice.loss.counts.at("planes_repeated") == 1);
  REQUIRE_FALSE(twice.loss.notes.empty());
  CHECK(twice.loss.notes.front().find("/host:CPU") != std::string::npos);
}

TEST_CASE("planes beyond the most that are read are lost, and counted") {
  constexpr int kMostPlanes = 4096;
  const std::string pipeline = small_pipeline().to_xspace();
  const std::string empty_plane("\x0a\x00", 2);
  std::string file = pipeline;
  for (int plane = 1; plane < kMostPlanes; ++plane) file += empty_plane;
  CHECK(SyntheticTrace::read(file)->loss.complete());
  const Trace trace = *SyntheticTrace::read(file + pipeline + empty_plane);
  CHECK(trace.event_count == 4);
  CHECK(trace.loss.counts == std::map<std::string, std::uint64_t>{{"planes_too_many", 2}});
  CHECK(trace.loss.notes.size() == 1);
}

TEST_CASE("device planes are named and counted, not kept") {
  xspace::XSpace space = small_pipeline().to_message();
  xspace::XPlane& device = *space.add_planes();
  device.set_name("/device:GPU:0");
  xspace::XLine& line = *device.add_lines();
  for (int index = 0; index < 7; ++index) line.add_events()->set_duration_ps(5);
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  REQUIRE(trace->devices.size() == 1);
  CHECK(trace->devices[0] == "/device:GPU:0");
  CHECK(trace->event_count == 11);
  CHECK(trace->lanes.size() == 1);
}

TEST_CASE("a file cut anywhere is read as far as it goes, and says so") {
  const std::string whole = small_pipeline().to_xspace();
  const Result<Trace> complete = SyntheticTrace::read(whole);
  REQUIRE(complete);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    CAPTURE(length);
    const Result<Trace> trace = SyntheticTrace::read(whole.substr(0, length));
    if (!trace) continue;
    CHECK(trace->event_count <= complete->event_count);
    // A cut between two top-level fields is a shorter, valid file.
    if (trace->loss.complete()) CHECK(trace->event_count <= complete->event_count);
  }
  const Result<Trace> without_names = SyntheticTrace::read(whole.substr(0, whole.size() / 2));
  REQUIRE(without_names);
  CHECK_FALSE(without_names->loss.complete());
}

TEST_CASE("hostile bytes are survived") {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\x0a\x02\x08\xff"s, "\x0a\x04\x1a\x02\x22\xff"s,
        "\x0a\x06\x1a\x04\x22\x02\x08\x01"s, "\x22\x05hello"s, std::string(1000, '\x0a')}) {
    const Result<Trace> trace = SyntheticTrace::read(bytes);
    if (trace) CHECK(trace->iterator_event_count == 0);
  }
}

TEST_CASE("other protobuf files are not taken for an XSpace") {
  using namespace std::string_literals;
  // The profile of TF 1.14 to 2.1: a map of devices stands where an XSpace has its planes.
  CHECK_FALSE(sniff_xspace("\x0a\x0f\x08\x00\x12\x0b\x0a\x09/host:CPU"s));
  CHECK_FALSE(sniff_xspace("{\"traceEvents\":[]}"s));
  CHECK_FALSE(sniff_xspace("\x1f\x8b\x08\x00"s));
  CHECK_FALSE(sniff_xspace(""s));
  CHECK(sniff_xspace("\x0a\x0b\x12\x09/host:CPU"s));
  CHECK(sniff_xspace("\x22\x04host"s));
}

TEST_CASE("metadata ids may be any int64") {
  xspace::XSpace space = small_pipeline().to_message();
  auto& metadata = *space.mutable_planes(0)->mutable_event_metadata();
  const xspace::XEventMetadata moved = metadata.begin()->second;
  const std::int64_t old_id = metadata.begin()->first;
  metadata[-5] = moved;
  metadata.erase(old_id);
  for (auto& event : *space.mutable_planes(0)->mutable_lines(0)->mutable_events()) {
    if (event.metadata_id() == old_id) event.set_metadata_id(-5);
  }
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  CHECK(trace->instances.size() == 2);
}

TEST_CASE("varints are refused when cut off or too long") {
  using namespace std::string_view_literals;
  const auto read = [](std::string_view bytes) {
    std::size_t position = 0;
    return read_varint(bytes, position);
  };
  CHECK(*read("\x00"sv) == 0);
  CHECK(*read("\xac\x02"sv) == 300);
  CHECK(*read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv) == UINT64_MAX);
  CHECK_FALSE(read(""sv));
  CHECK_FALSE(read("\xff"sv));
  CHECK_FALSE(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv));
}

TEST_CASE("of each attribute the latest value counts, wherever its event stands") {
  SyntheticTrace written;
  const auto call = [&](const std::string& thread, double start) -> SyntheticTrace::Event& {
    return written.iterator(thread, "Iterator::Root::Prefetch", 2, 1, start, 5);
  };
  call("a", 0).numbers = {{"buffer_size", 1}, {"buffer_limit", 10}};
  call("a", 10).numbers = {{"buffer_size", 2}, {"buffer_limit", 20}};
  call("a", 20).numbers = {{"buffer_limit", 30}};
  call("b", 15).numbers = {{"buffer_limit", 40}};                      // alike, but earlier
  call("b", 16).numbers = {{"buffer_size", 5}, {"buffer_limit", 50}};  // a later size, an earlier limit
  const Trace trace = written.to_trace();
  REQUIRE(trace.instances.size() == 1);
  CHECK(trace.instances[0].event_count == 5);
  std::map<std::string, std::int64_t> values;
  for (const Attribute& attribute : trace.instances[0].attributes) {
    values[std::string(trace.strings[attribute.name])] = attribute.number;
  }
  CHECK(values == std::map<std::string, std::int64_t>{{"buffer_size", 5}, {"buffer_limit", 30}});
}

TEST_CASE("an id that a pipeline of another line uses again is another iterator") {
  SyntheticTrace written;
  double start = 0;
  for (const char* const name : {"at_train_py_L70_map", "at_train_py_L75_map", "at_train_py_L70_map"}) {
    written.iterator("python", "Iterator::Root::Map", 2, 1, start += 10, 5).texts["name"] = name;
  }
  const Trace trace = written.to_trace();
  REQUIRE(trace.instances.size() == 2);
  CHECK(trace.instances[0].event_count == 2);
  CHECK(trace.strings[trace.instances[1].dataset_name] == "at_train_py_L75_map");
}

TEST_CASE("ids of statistics may take several bytes") {
  xspace::XSpace space = small_pipeline().to_message();
  xspace::XPlane& plane = *space.mutable_planes(0);
  constexpr std::int64_t kMoved = 300;
  const auto names = plane.stat_metadata();
  plane.clear_stat_metadata();
  for (const auto& [id, metadata] : names) (*plane.mutable_stat_metadata())[id + kMoved] = metadata;
  for (auto& event : *plane.mutable_lines(0)->mutable_events()) {
    for (auto& stat : *event.mutable_stats()) {
      stat.set_metadata_id(stat.metadata_id() + kMoved);
      if (stat.value_case() == xspace::XStat::kRefValue) {
        stat.set_ref_value(stat.ref_value() + static_cast<std::uint64_t>(kMoved));
      }
    }
  }
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  REQUIRE(trace->instances.size() == 2);
  CHECK(*trace->instances[1].id == 1ull << 63);
  CHECK(*trace->instances[1].parent_id == 1);
  CHECK(trace->strings[trace->instances[1].dataset_name] == "MapDataset:3");
}

TEST_CASE("a closure waits from the event that queues it to the one that starts it, on whatever line they are") {
  SyntheticTrace written = small_pipeline();
  std::rotate(written.events.begin(), written.events.end() - 1, written.events.end());
  written.add("tf_Compute/1", "ThreadpoolListener::StartRegion", 40, 0).ids = {{"_ct", 15}, {"_c", 7}};
  written.add("tf_Compute/1", "ThreadpoolListener::StopRegion", 50, 0);
  written.add("tf_Compute/1", "ThreadpoolListener::StartRegion", 60, 0).ids = {{"_ct", 15}, {"_c", 1ull << 63}};
  written.add("later", "ThreadpoolListener::Record", 1, 0).ids = {{"_pt", 15}, {"_p", 7}};
  written.add("later", "ThreadpoolListener::Record", 58.5, 0).ids = {{"_pt", 15}, {"_p", 1ull << 63}};
  const Trace trace = written.to_trace();
  CHECK(trace.loss.complete());
  CHECK(trace.event_count == 4 + 3 + 2);
  // Events that queue are counted, but are in no lane and no part of the window.
  CHECK(trace.lanes.size() == 2);
  CHECK(trace.window.start == 5 * kPicosecondsPerMicrosecond);
  CHECK(trace.queue.stride == 1);
  constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;
  CHECK(trace.queue.closures ==
        std::vector<QueuedClosure>{{{kUs, 40 * kUs}, LaneId{1}}, {{58 * kUs + kUs / 2, 60 * kUs}, LaneId{1}}});
}

TEST_CASE("a line without a name has none") {
  SyntheticTrace written;
  written.iterator("a", "Iterator::Root", 1, 0, 0, 10);
  written.iterator("b", "Iterator::Root::Map", 2, 1, 0, 10);
  xspace::XSpace space = written.to_message();
  space.mutable_planes(0)->mutable_lines(1)->clear_name();
  const Result<Trace> trace = SyntheticTrace::read(space.SerializeAsString());
  REQUIRE(trace);
  REQUIRE(trace->lanes.size() == 2);
  CHECK(trace->strings[trace->lanes[0].name] == "a");
  CHECK(trace->strings[trace->lanes[1].name].empty());
}

TEST_CASE("an event whose length stands behind the end of its line is damage, and the next plane is read") {
  SyntheticTrace written;
  written.iterator("a", "Iterator::Root", 1, 0, 0, 10);
  const std::string event = "\x22";  // the tag of an event; its length would be the first byte behind the line
  xspace::XSpace space = written.to_message();
  const std::string line = space.planes(0).lines(0).SerializeAsString() + event;
  xspace::XPlane rest = space.planes(0);
  rest.clear_lines();
  const auto field = [](int tag, const std::string& bytes) {
    REQUIRE(bytes.size() < 0x4000);
    std::string text(1, static_cast<char>(tag));
    text += static_cast<char>((bytes.size() & 0x7f) | 0x80);
    text += static_cast<char>(bytes.size() >> 7);
    return text + bytes;
  };
  const std::string first = rest.SerializeAsString() + field(0x1a, line);
  const std::string bytes = field(0x0a, first) + field(0x0a, space.planes(0).SerializeAsString());
  const Result<Trace> trace = SyntheticTrace::read(bytes);
  REQUIRE(trace);
  CHECK(trace->event_count == 2);
  CHECK(trace->loss.counts.at("messages_malformed") >= 1);
}

TEST_CASE("closures whose ids come again are paired in the order of the file, in JSON too") {
  SyntheticTrace written;
  for (const double start : {10.0, 20.0}) {
    written.add("pool", "ThreadpoolListener::Record", start, 0).ids["_p"] = 5;
    written.add("pool", "ThreadpoolListener::StartRegion", start + 2, 0).ids["_c"] = 5;
  }
  for (const std::string& bytes : {written.to_xspace(), written.to_chrome_json()}) {
    const Result<Trace> trace = SyntheticTrace::read(bytes);
    REQUIRE(trace);
    REQUIRE(trace->queue.closures.size() == 2);
    for (const QueuedClosure& closure : trace->queue.closures) {
      CHECK(closure.waited.end - closure.waited.start == 2 * kPicosecondsPerMicrosecond);
    }
  }
}

}  // namespace doctor::xspace_test
