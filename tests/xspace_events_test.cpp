// Events as the reader of XSpaces hands them to a sink.

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "collected_events.h"
#include "read_events.h"
#include "synthetic_trace.h"
#include "trace/event_reader.h"
#include "trace/format.h"

namespace doctor::event_reader_test {
namespace {

xspace::XPlane& add_plane(xspace::XSpace& space, const std::string& name) {
  xspace::XPlane& plane = *space.add_planes();
  plane.set_name(name);
  return plane;
}

xspace::XEvent& add_event(xspace::XPlane& plane, const std::string& line_name, std::int64_t timestamp_ns,
                          const std::string& name) {
  const auto id = static_cast<std::int64_t>(plane.event_metadata_size()) + 1;
  (*plane.mutable_event_metadata())[id].set_name(name);
  xspace::XLine& line = *plane.add_lines();
  line.set_id(plane.lines_size());
  line.set_name(line_name);
  line.set_timestamp_ns(timestamp_ns);
  xspace::XEvent& event = *line.add_events();
  event.set_metadata_id(id);
  return event;
}

void add_stat_name(xspace::XPlane& plane, std::int64_t id, const std::string& name) {
  (*plane.mutable_stat_metadata())[id].set_name(name);
}

TEST_CASE("an event of an XSpace comes with both names and all statistics") {
  xspace::XSpace space;
  space.add_hostnames("vm");
  xspace::XPlane& plane = add_plane(space, "/host:CPU");
  xspace::XEvent& event = add_event(plane, "main", 1'000, "Iterator::Root::Map");
  (*plane.mutable_event_metadata())[1].set_display_name("Iterator::Map");
  event.set_offset_ps(3);
  event.set_duration_ps(7);
  const std::vector<std::string> names = {"", "text", "reference", "signed", "unsigned", "real", "of_name", "referred"};
  for (std::size_t id = 1; id < names.size(); ++id) add_stat_name(plane, static_cast<std::int64_t>(id), names[id]);
  const auto add = [&event](std::int64_t id) -> xspace::XStat& {
    event.add_stats()->set_metadata_id(id);
    return *event.mutable_stats(event.stats_size() - 1);
  };
  add(1).set_str_value("a");
  add(2).set_ref_value(7);
  add(3).set_int64_value(-1);
  add(4).set_uint64_value(1ull << 63);
  add(5).set_double_value(0.5);
  xspace::XStat& of_name = *(*plane.mutable_event_metadata())[1].add_stats();
  of_name.set_metadata_id(6);
  of_name.set_int64_value(9);

  Reading reading;
  read_into(reading, space.SerializeAsString());
  CHECK(reading.totals.event_count == 1);
  CHECK(reading.totals.loss.complete());
  CHECK(reading.sink.header.hosts == std::vector<std::string>{"vm"});
  CHECK(reading.sink.header.origin_ns == 1'000);
  const CollectedEvent& read = reading.sink.events.at(0);
  CHECK(read.plane == "/host:CPU");
  CHECK(read.plane_kind == PlaneKind::host);
  CHECK(read.line == "main");
  CHECK(read.name == "Iterator::Root::Map");
  CHECK(read.short_name == "Iterator::Map");
  CHECK(read.start == 3);
  CHECK(read.duration == 7);
  CHECK(read.texts == std::map<std::string, std::string>{{"reference", "referred"}, {"text", "a"}});
  CHECK(read.integers == std::map<std::string, std::int64_t>{{"of_name", 9}, {"signed", -1}});
  CHECK(read.unsigned_integers == std::map<std::string, std::uint64_t>{{"unsigned", 1ull << 63}});
  CHECK(read.reals == std::map<std::string, double>{{"real", 0.5}});
}

TEST_CASE("arguments that were left in the name of an event are its arguments") {
  struct Row {
    const char* name;
    const char* plain;
    std::map<std::string, std::string> texts;
  };
  const std::vector<Row> rows = {
      {"Iterator::Map#id=1,parent_id=2#", "Iterator::Map", {{"id", "1"}, {"parent_id", "2"}}},
      {"train#step_num=3#", "train", {{"step_num", "3"}}},
      {"worker #3", "worker #3", {}},
      {"f#nothing#", "f", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    xspace::XSpace space;
    add_event(add_plane(space, "/host:CPU"), "main", 0, row.name);
    Reading reading;
    read_into(reading, space.SerializeAsString());
    CHECK(reading.sink.events.at(0).name == row.plain);
    CHECK(reading.sink.events.at(0).texts == row.texts);
  }
}

TEST_CASE("of a host's events only wanted arguments are handed on, and the others are checked nevertheless") {
  xspace::XSpace space;
  for (const char* const name : {"/host:CPU", "/device:GPU:0"}) {
    xspace::XPlane& plane = add_plane(space, name);
    add_stat_name(plane, 1, "wanted");
    add_stat_name(plane, 2, "other");
    add_stat_name(plane, 300, "far");
    xspace::XEvent& event = add_event(plane, "main", 0, "event#wanted=a,other=b#");
    for (const std::int64_t id : {2, 1, 300}) {
      event.add_stats()->set_metadata_id(id);
      event.mutable_stats(event.stats_size() - 1)->set_int64_value(id);
    }
  }
  Reading reading;
  reading.sink.only_argument = "wanted";
  read_into(reading, space.SerializeAsString());
  REQUIRE(reading.sink.events.size() == 2);
  const CollectedEvent& of_host = reading.sink.events[0];
  CHECK(of_host.integers == std::map<std::string, std::int64_t>{{"wanted", 1}});
  CHECK(of_host.texts == std::map<std::string, std::string>{{"wanted", "a"}});
  const CollectedEvent& of_device = reading.sink.events[1];
  CHECK(of_device.integers == std::map<std::string, std::int64_t>{{"far", 300}, {"other", 2}, {"wanted", 1}});

  // The value of the host's other argument goes on beyond its end.
  std::string bytes = space.SerializeAsString();
  const std::string stat = {0x08, 0x02, 0x20, 0x02};
  const std::size_t at = bytes.find(stat);
  REQUIRE(at != std::string::npos);
  bytes[at + 3] = static_cast<char>(0x80);
  Reading damaged;
  damaged.sink.only_argument = "wanted";
  read_into(damaged, bytes);
  CHECK(damaged.sink.events.size() == 1);
  CHECK(damaged.totals.loss.counts.at("events_malformed") == 1);
}

TEST_CASE("a host's events that a sink does not take come for the arguments that mark them") {
  xspace::XSpace space;
  for (const char* const name : {"/host:CPU", "/device:GPU:0"}) {
    xspace::XPlane& plane = add_plane(space, name);
    add_stat_name(plane, 1, "mark");
    add_stat_name(plane, 2, "other");
    for (const char* const event_name : {"taken", "left", "left", "left#mark=a#"}) {
      add_event(plane, "main", 0, event_name);
    }
    const auto add = [&plane](int line, std::int64_t id) {
      xspace::XStat& stat = *plane.mutable_lines(line)->mutable_events(0)->add_stats();
      stat.set_metadata_id(id);
      stat.set_int64_value(id);
    };
    for (int line = 0; line < 4; ++line) add(line, 2);
    add(2, 1);
  }
  Reading reading;
  reading.sink.marks = {"mark"};
  reading.sink.taken = "taken";
  read_into(reading, space.SerializeAsString());
  CHECK(reading.totals.event_count == 8);
  REQUIRE(reading.sink.events.size() == 7);
  CHECK(reading.sink.events[0].integers == std::map<std::string, std::int64_t>{{"other", 2}});
  CHECK(reading.sink.events[1].integers == std::map<std::string, std::int64_t>{{"mark", 1}});
  CHECK(reading.sink.events[2].texts == std::map<std::string, std::string>{{"mark", "a"}});
  CHECK(reading.sink.events[6].name == "left#mark=a#");  // of a device all come, with the names that they have
}

TEST_CASE("of a host's events that are taken for their times, arguments come where they are looked at") {
  xspace::XSpace space;
  for (const bool has_marks : {true, false}) {
    xspace::XPlane& plane = add_plane(space, "/host:CPU");
    add_stat_name(plane, 1, has_marks ? "mark" : "another");
    xspace::XEvent& event = add_event(plane, "main", 0, "taken");
    event.set_offset_ps(3);
    event.set_duration_ps(7);
    event.add_stats()->set_metadata_id(1);
    event.mutable_stats(0)->set_int64_value(5);
    add_event(plane, "main", 0, "taken#mark=a#");
    // Only events with others after them are read as profilers write them.
    (*plane.mutable_event_metadata())[3].set_name("left");
    for (xspace::XLine& line : *plane.mutable_lines()) {
      for (int event_count = 0; event_count < 20; ++event_count) line.add_events()->set_metadata_id(3);
    }
  }
  Reading reading;
  reading.sink.marks = {"mark"};
  reading.sink.taken = "taken";
  reading.sink.taken_with = EventSink::kMarks;
  read_into(reading, space.SerializeAsString());
  const std::vector<CollectedEvent>& events = reading.sink.events;
  REQUIRE(events.size() == 4);
  CHECK(events[0].integers == std::map<std::string, std::int64_t>{{"mark", 5}});
  CHECK(events[2].integers.empty());
  for (const std::size_t index : {0U, 2U}) {
    CHECK(events[index].start == 3);
    CHECK(events[index].duration == 7);
    CHECK(events[index + 1].texts == std::map<std::string, std::string>{{"mark", "a"}});
  }
}

TEST_CASE("texts that are the same have one number where the profiler wrote them once") {
  xspace::XSpace space;
  xspace::XPlane& plane = add_plane(space, "/host:CPU");
  add_stat_name(plane, 1, "argument");
  add_stat_name(plane, 2, "text");
  for (const char* const name : {"a", "b", "c"}) add_event(plane, "main", 0, name);
  const auto stat_of = [&plane](int line) -> xspace::XStat& {
    xspace::XStat& stat = *plane.mutable_lines(line)->mutable_events(0)->add_stats();
    stat.set_metadata_id(1);
    return stat;
  };
  stat_of(0).set_ref_value(2);
  stat_of(1).set_str_value("text");
  stat_of(2).set_ref_value(2);
  Reading reading;
  read_into(reading, space.SerializeAsString());
  REQUIRE(reading.sink.events.size() == 3);
  const auto number = [&](std::size_t index) { return reading.sink.events[index].text_numbers.at("argument"); };
  CHECK(number(0) != 0);
  CHECK(number(1) == 0);
  CHECK(number(2) == number(0));
}

TEST_CASE("events of an XSpace have one number for each name") {
  xspace::XSpace space;
  xspace::XPlane& host = add_plane(space, "/host:CPU");
  add_event(host, "main", 0, "a");
  add_event(host, "main", 0, "b");
  host.mutable_lines(1)->add_events()->set_metadata_id(1);
  host.mutable_lines(1)->add_events()->set_metadata_id(99);  // has no name
  add_event(add_plane(space, "/device:GPU:0"), "Stream #1", 0, "a");
  Reading reading;
  read_into(reading, space.SerializeAsString());
  REQUIRE(reading.sink.events.size() == 5);
  const auto number = [&](std::size_t index) { return reading.sink.events[index].name_number; };
  CHECK(number(2) == number(0));
  CHECK(number(3) == 0);
  // Of another plane, it may have a second name of its own.
  CHECK(std::set<std::size_t>{0, number(0), number(1), number(4)}.size() == 4);
}

TEST_CASE("times of an XSpace count from the first host line with events") {
  xspace::XSpace space;
  add_event(add_plane(space, "/device:GPU:0"), "Stream #1", 900, "kernel");
  xspace::XPlane& host = add_plane(space, "/host:CPU");
  host.add_lines()->set_timestamp_ns(5);
  add_event(host, "main", 1'000, "step");
  add_event(host, "other", 1'002, "op");
  Reading reading;
  read_into(reading, space.SerializeAsString());
  CHECK(reading.sink.header.origin_ns == 1'000);
  CHECK(reading.sink.header.devices == std::vector<std::string>{"/device:GPU:0"});
  REQUIRE(reading.sink.events.size() == 3);
  CHECK(reading.sink.events[0].start == -100'000);
  CHECK(reading.sink.events[1].start == 0);
  CHECK(reading.sink.events[2].start == 2'000);
}

TEST_CASE("planes and lines are told apart by what their times are") {
  xspace::XSpace space;
  xspace::XPlane& device = add_plane(space, "/device:GPU:0");
  add_event(device, "Stream #1", 0, "kernel");
  add_event(device, "TensorFlow Ops", 0, "MatMul");
  add_event(device, "Steps", 0, "1");
  add_event(add_plane(space, "/host:metadata"), "x", 0, "y");
  const std::string bytes = space.SerializeAsString();
  Reading all;
  read_into(all, bytes);
  REQUIRE(all.sink.events.size() == 4);
  CHECK(all.sink.events[0].line_kind == LineKind::activity);
  CHECK(all.sink.events[1].line_kind == LineKind::derived);
  CHECK(all.sink.events[2].line_kind == LineKind::steps);
  CHECK(all.sink.events[3].plane_kind == PlaneKind::other);
  Reading devices;
  read_into(devices, bytes, WantedPlanes::devices);
  CHECK(devices.sink.events.size() == 3);
  CHECK(devices.totals.event_count == 3);
}

TEST_CASE("an XSpace that is cut off anywhere yields what stands before the cut") {
  SyntheticTrace written;
  for (int step = 0; step < 5; ++step) written.iterator("main", "Iterator::Root::Map", 1, 0, 10 * step, 5);
  const std::string bytes = written.to_xspace();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const auto source = memory_source(cut, "test");
    CollectingSink sink;
    const Result<EventTotals> totals = read_xspace(*source, sink);
    REQUIRE(totals.has_value());
    CAPTURE(size);
    // The event that is cut is none; the others are whole.
    CHECK(totals->event_count == sink.events.size());
    CHECK(sink.events.size() <= 5);
  }
  Reading whole;
  read_into(whole, bytes);
  CHECK(whole.sink.events.size() == 5);
}

TEST_CASE("events of an XSpace that cannot be used are counted by reason") {
  xspace::XSpace space;
  xspace::XPlane& plane = add_plane(space, "/host:CPU");
  add_event(plane, "a", 0, "good");
  add_event(plane, "b", 0, "negative").set_duration_ps(-1);
  add_event(plane, "c", 0, "far").set_offset_ps(INT64_MAX);
  Reading reading;
  read_into(reading, space.SerializeAsString());
  CHECK(reading.totals.event_count == 3);
  CHECK(reading.sink.events.size() == 1);
  CHECK(reading.totals.loss.counts ==
        std::map<std::string, std::uint64_t>{{"events_negative_duration", 1}, {"events_outside_time_range", 1}});
}

}  // namespace
}  // namespace doctor::event_reader_test
