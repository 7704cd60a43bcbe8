// Which traces of a folder that is followed are whole, and how it is followed: without a clock and without waiting.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "batch/trace_list.h"
#include "temporary_directory.h"

namespace doctor::trace_watch_test {
namespace {

using Paths = std::vector<std::string>;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1'800'000'000 * kSecond;

TEST_CASE("a file that is written to is waited for") {
  TraceWatch watch(std::chrono::seconds(30));
  CHECK(watch.take({{"old.pb", 5, kNow - 30 * kSecond}, {"new.pb", 5, kNow - 29 * kSecond}}, kNow) == Paths{"old.pb"});
  CHECK(watch.unfinished() == 1);
  // Larger, then of another time, then as before: whatever the clock says.
  CHECK(watch.take({{"new.pb", 6, kNow - 29 * kSecond}}, kNow) == Paths{});
  CHECK(watch.take({{"new.pb", 6, kNow}}, kNow) == Paths{});
  CHECK(watch.unfinished() == 1);
  CHECK(watch.take({{"new.pb", 6, kNow}}, kNow) == Paths{"new.pb"});
  CHECK(watch.unfinished() == 0);
}

TEST_CASE("each path is returned once") {
  TraceWatch watch(std::chrono::seconds(30));
  CHECK(watch.take({{"a.pb", 5, 0}}, kNow) == Paths{"a.pb"});
  CHECK(watch.known().contains("a.pb"));
  CHECK(watch.take({{"a.pb", 9, 0}, {"b.pb", 9, 0}}, kNow) == Paths{"b.pb"});
}

TEST_CASE(
    "a file that goes before it is whole is forgotten, and one of a clock that is fast is whole at the second look") {
  TraceWatch watch(std::chrono::seconds(30));
  CHECK(watch.take({{"a.pb", 5, kNow}}, kNow) == Paths{});
  CHECK(watch.take({}, kNow) == Paths{});
  CHECK(watch.unfinished() == 0);
  CHECK(watch.take({{"a.pb", 5, kNow + 3600 * kSecond}}, kNow) == Paths{});
  CHECK(watch.take({{"a.pb", 5, kNow + 3600 * kSecond}}, kNow) == Paths{"a.pb"});
}

TEST_CASE("the files of a run are whole together, those of another run and of no run each by themselves") {
  TraceWatch watch(std::chrono::seconds(30));
  const std::string run = "logs/plugins/profile/r1/";
  const std::vector<FoundTrace> found = {{run + "a.xplane.pb", 5, 0},
                                         {run + "b.xplane.pb", 5, kNow},
                                         {"logs/plugins/profile/r2/a.xplane.pb", 5, 0},
                                         {"logs/c.pb", 5, 0},
                                         {"logs/d.pb", 5, kNow}};
  CHECK(watch.take(found, kNow) == Paths{"logs/plugins/profile/r2/a.xplane.pb", "logs/c.pb"});
  CHECK(watch.unfinished() == 3);
  CHECK(watch.take(found, kNow) == Paths{run + "a.xplane.pb", run + "b.xplane.pb", "logs/d.pb"});
}

TEST_CASE(
    "a look finds the trace files below the folder that are not known, and tells of folders that it cannot read") {
  const TemporaryDirectory folder;
  const std::string one = folder.write("a/plugins/profile/r/h.xplane.pb", "12345");
  const std::string two = folder.write("b/x.trace.json.gz", "1");
  folder.write("b/notes.txt", "1");
  std::vector<std::string> told;
  const auto tell = [&](const Error& error) { told.push_back(error.where); };
  std::vector<FoundTrace> found = look_for_traces(folder.path(), {}, tell);
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == one);
  CHECK(found[0].bytes == 5);
  CHECK(found[0].modified_ns > 0);
  PathSet known;
  known.add(one);
  found = look_for_traces(folder.path(), known, tell);
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == two);
  CHECK(told.empty());
  CHECK(look_for_traces(folder / "none", known, tell).empty());
  CHECK(told == Paths{folder / "none"});
}

}  // namespace
}  // namespace doctor::trace_watch_test
