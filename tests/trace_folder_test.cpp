// What lies beside a trace.

#include "io/trace_folder.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_directory.h"

namespace doctor::trace_folder_test {
namespace {

namespace fs = std::filesystem;

/// Writes a trace, or rather its name.
std::string write_trace(const TemporaryDirectory& folder, std::string_view host) {
  return folder.write(std::string(host) + ".xplane.pb", "x");
}

TEST_CASE("a folder that was too large is listed again when something of it went") {
  constexpr std::size_t kMost = 100;
  const TemporaryDirectory folder;
  std::vector<std::string> traces;
  traces.reserve(70);
  for (int number = 0; number < 70; ++number) traces.push_back(write_trace(folder, std::to_string(number)));
  fs::last_write_time(folder.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  LargeFolder large;
  for (const std::string& trace : traces) {
    CHECK(traces_beside(trace, kMost, large) == std::vector<std::string>{trace});
    CHECK(large.path == folder.path() + "/");
  }
  for (int number = 10; number < 70; ++number) fs::remove(traces[static_cast<std::size_t>(number)]);
  CHECK(traces_beside(traces[0], kMost, large).size() == 10);
}

TEST_CASE("of an empty XSpace the Chrome trace beside it is read") {
  const TemporaryDirectory folder;
  const std::string xspace = folder.write("vm.xplane.pb", "");
  const auto in_folder = [&] {
    const Result<TraceFolder> listed = read_trace_folder(folder.path());
    REQUIRE(listed);
    return most_complete_files(folder.path(), listed->traces);
  };
  CHECK(file_to_read(xspace) == xspace);
  CHECK(in_folder() == std::vector<std::string>{xspace});
  folder.write("other.trace.json.gz", "x");
  CHECK(file_to_read(xspace) == xspace);
  const std::string json = folder.write("vm.trace.json.gz", "x");
  CHECK(file_to_read(xspace) == json);
  CHECK(in_folder() == std::vector<std::string>{folder / "other.trace.json.gz", json});
  REQUIRE(xspace_beside(json));
  CHECK(xspace_beside(json)->path == xspace);
  CHECK(xspace_beside(json)->is_empty);
  folder.write("vm.xplane.pb", "x");
  CHECK(file_to_read(xspace) == xspace);
  CHECK(in_folder() == std::vector<std::string>{folder / "other.trace.json.gz", xspace});
  CHECK_FALSE(xspace_beside(json)->is_empty);
  CHECK_FALSE(xspace_beside(folder / "other.trace.json.gz"));
  CHECK_FALSE(xspace_beside(xspace));
}

TEST_CASE("in a large folder the other recording of a host is found by its name") {
  const TemporaryDirectory folder;
  for (int number = 0; number < 70; ++number) folder.write(std::to_string(number), "x");
  const std::vector<std::string> recordings = {write_trace(folder, "vm.jax"), write_trace(folder, "vm")};
  LargeFolder large;
  for (const std::string& trace : recordings) CHECK(traces_beside(trace, 8, large) == recordings);
}

TEST_CASE("a folder with traces of too many hosts is listed once") {
  constexpr std::size_t kMost = 3;
  const TemporaryDirectory folder;
  std::vector<std::string> traces;
  traces.reserve(4);
  for (int number = 0; number < 4; ++number) traces.push_back(write_trace(folder, std::to_string(number)));
  const std::string other = write_trace(folder, "3.jax");
  fs::last_write_time(folder.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  LargeFolder large;
  CHECK(traces_beside(traces[0], kMost, large) == std::vector<std::string>{traces[0]});
  CHECK(large.path == folder.path() + "/");
  CHECK(traces_beside(traces[3], kMost, large) == std::vector<std::string>{other, traces[3]});
  CHECK(traces_beside(other, kMost, large) == std::vector<std::string>{other, traces[3]});
}

// Trying names for each of a million traces would take longer than to read theirs.
TEST_CASE("that no host has another recording holds until something comes or goes") {
  const TemporaryDirectory folder;
  for (int number = 0; number < 70; ++number) folder.write(std::to_string(number), "x");
  const std::string own = write_trace(folder, "vm");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(folder.path(), long_ago);
  LargeFolder large;
  for (int time = 0; time < 100; ++time) CHECK(traces_beside(own, 8, large) == std::vector<std::string>{own});
  const std::string other = write_trace(folder, "vm.jax");
  fs::last_write_time(folder.path(), long_ago);
  CHECK(traces_beside(own, 8, large) == std::vector<std::string>{own});  // its names are not read or tried again
  fs::last_write_time(folder.path(), long_ago + std::chrono::minutes(1));
  for (int time = 0; time < 100; ++time) CHECK(traces_beside(own, 8, large) == std::vector<std::string>{other, own});
}

TEST_CASE("in a folder that has just changed the names of the other recording are tried each time") {
  const TemporaryDirectory folder;
  for (int number = 0; number < 70; ++number) folder.write(std::to_string(number), "x");
  const std::string own = write_trace(folder, "vm");
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(folder.path(), now);
  LargeFolder large;
  for (int time = 0; time < 100; ++time) CHECK(traces_beside(own, 8, large) == std::vector<std::string>{own});
  const std::string other = write_trace(folder, "vm.jax");
  fs::last_write_time(folder.path(), now);  // as a clock that stands still between two changes
  CHECK(traces_beside(own, 8, large) == std::vector<std::string>{other, own});
}

TEST_CASE("of the other recording of a host the richest file is taken") {
  const TemporaryDirectory folder;
  for (int number = 0; number < 70; ++number) folder.write(std::to_string(number), "x");
  const std::string own = write_trace(folder, "vm");
  folder.write("vm.jax.trace.json", "x");
  LargeFolder large;
  CHECK(traces_beside(own, 8, large).front() == folder.path() + "/vm.jax.trace.json");
  const std::string richer = write_trace(folder, "vm.jax");
  folder.write("vm.jax.trace.json.gz", "x");
  CHECK(traces_beside(own, 8, large) == std::vector<std::string>{richer, own});
}

TEST_CASE("a path is given back as it was written") {
  const TemporaryDirectory folder;
  write_trace(folder, "a");
  write_trace(folder, "b");
  const std::string doubled = folder.path() + "//a.xplane.pb";
  LargeFolder large;
  CHECK(traces_beside(doubled, 8, large) == std::vector<std::string>{doubled, folder.path() + "//b.xplane.pb"});
}

}  // namespace
}  // namespace doctor::trace_folder_test
