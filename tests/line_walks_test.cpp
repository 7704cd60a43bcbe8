#include "profile/line_walks.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "profile/profile_reader.h"
#include "synthetic_trace.h"
#include "trace/format.h"

namespace doctor::line_walks_test {
namespace {

/// Writes down what it is given.
class Writing {
 public:
  explicit Writing(std::string& text) : text_(&text) {}
  static bool is_before(int a, int b) { return a / 10 < b / 10; }
  void take(int row) { text_->append(std::to_string(row)) += ' '; }
  void finish() { *text_ += "| "; }

 private:
  std::string* text_;
};

using Walks = LineWalks<int, Writing>;

}  // namespace

TEST_CASE("rows of a line come in order, and equal ones as they were added") {
  for (const LineOrder order : {LineOrder::any, LineOrder::by_start}) {
    std::string text;
    Walks walks(order, Writing(text));
    EventLine first;
    EventLine second;
    second.index = 1;
    for (const int row : {11, 10, 20}) {
      walks.add(second, row);
      walks.add(first, row + 30);
    }
    walks.end_line(first);
    walks.end_line(first);
    walks.end_file();
    CHECK(!walks.is_disordered());
    CHECK(text == (order == LineOrder::any ? "41 40 50 | 11 10 20 | " : "11 41 10 40 20 50 | | "));
  }
}

TEST_CASE("rows in any order are sorted, or said to need it") {
  for (const LineOrder order : {LineOrder::any, LineOrder::by_start}) {
    std::string text;
    Walks walks(order, Writing(text));
    for (const int row : {20, 11, 12}) walks.add(EventLine(), row);
    walks.end_file();
    CHECK(walks.is_disordered() == (order == LineOrder::by_start));
    if (order == LineOrder::any) CHECK(text == "11 12 20 | ");
  }
}

TEST_CASE("a file whose threads are not in order is read a second time, and then is understood") {
  xspace::XSpace space;
  xspace::XPlane& plane = *space.add_planes();
  plane.set_name("/host:CPU");
  xspace::XLine& line = *plane.add_lines();
  std::int64_t id = 0;
  const auto add = [&](const char* name, std::int64_t start, std::int64_t duration) {
    (*plane.mutable_event_metadata())[++id].set_name(name);
    xspace::XEvent& event = *line.add_events();
    event.set_metadata_id(id);
    event.set_offset_ps(start);
    event.set_duration_ps(duration);
  };
  add("inner:Cast", 10, 20);
  add("outer:While", 0, 100);
  const std::string bytes = space.SerializeAsString();
  const auto source = memory_source(bytes, "test");
  const Result<const Format*> format = format_of(*source);
  REQUIRE(format.has_value());
  ProfileReader reader(ProfileParts(), LineOrder::by_start);
  REQUIRE(reader.add(*source, **format, {}).has_value());
  REQUIRE(reader.must_read_again());
  reader.begin_again();
  REQUIRE(reader.add(*source, **format, {}).has_value());
  CHECK(!reader.must_read_again());
  const Profile profile = reader.finish(0);
  REQUIRE(profile.ops.ops.size() == 2);
  CHECK(profile.ops.ops[0].self == 80);
  CHECK(profile.ops.ops[1].self == 20);
  CHECK(profile.host.compute == std::vector<Interval>{{0, 100}});
}

}  // namespace doctor::line_walks_test
