// What documents say of rows and of a fleet. With DOCTOR_ACCEPT_GOLDEN=1 in the environment the expected text is
// rewritten instead (scripts/accept-golden).
//
// docs/batch.md           holds the table of all columns of a row
// testdata/fleet/<file>   the pages of the rows in testdata/fleet/*.ndjson

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/fleet_report.h"
#include "fleet/row_columns.h"

namespace doctor::golden_fleet_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = DOCTOR_SOURCE_DIR;

bool accepts_golden() {
  const char* const accepts = std::getenv("DOCTOR_ACCEPT_GOLDEN");
  return accepts != nullptr && std::string_view(accepts) == "1";
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void compare(const std::string& actual, const fs::path& expected_file) {
  if (accepts_golden()) {
    std::ofstream(expected_file, std::ios::binary) << actual;
    return;
  }
  const bool is_same = read(expected_file) == actual;
  CHECK_MESSAGE(is_same, expected_file.string(), " differs; found:\n", actual);
}

}  // namespace

TEST_CASE("the page about rows has all columns") {
  constexpr std::string_view kBegin = "<!-- The table is written by scripts/accept-golden. -->\n";
  constexpr std::string_view kEnd = "<!-- End of the table. -->\n";
  const fs::path file = kSource / "docs" / "batch.md";
  const std::string page = read(file);
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  compare(page.substr(0, begin + kBegin.size()) + row_columns_table() + page.substr(end), file);
}

TEST_CASE("the pages of recorded rows") {
  const fs::path folder = kSource / "testdata" / "fleet";
  fs::current_path(folder);
  const Result<Fleet> fleet = read_fleet({"january.ndjson", "february.ndjson"});
  REQUIRE(fleet);
  compare(render_fleet_text(*fleet, 10, /*color=*/false), folder / "expected.txt");
  compare(render_fleet_json(*fleet, 0), folder / "expected.json");
  compare(render_fleet_csv(*fleet, 0), folder / "expected.csv");
  compare(render_fleet_markdown(*fleet, 3), folder / "expected.md");
}

}  // namespace doctor::golden_fleet_test
