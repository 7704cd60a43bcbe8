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
  for (int number = 0; number < 70; ++number) traces.push_back(write_trace(folder, std::to_string(number)));
  fs::last_write_time(folder.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  LargeFolder large;
  for (const std::string& trace : traces) {
    CHECK(traces_beside(trace, kMost, large) == std::vector<std::string>{trace});
    CHECK(large.path == folder.path());
  }
  for (int number = 10; number < 70; ++number) fs::remove(traces[static_cast<std::size_t>(number)]);
  CHECK(traces_beside(traces[0], kMost, large).size() == 10);
}

TEST_CASE("in a large folder the other recording of a host is found by its name") {
  const TemporaryDirectory folder;
  for (int number = 0; number < 70; ++number) folder.write(std::to_string(number), "x");
  const std::vector<std::string> recordings = {write_trace(folder, "vm.jax"), write_trace(folder, "vm")};
  LargeFolder large;
  for (const std::string& trace : recordings) CHECK(traces_beside(trace, 8, large) == recordings);
}

}  // namespace
}  // namespace doctor::trace_folder_test
