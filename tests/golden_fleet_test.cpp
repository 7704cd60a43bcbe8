// What documents say of a fleet: testdata/fleet/<file> are the pages of the rows in testdata/fleet/*.ndjson.

#include <doctest/doctest.h>

#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "golden_file.h"

namespace doctor::golden_fleet_test {
TEST_CASE("the pages of recorded rows") {
  const std::filesystem::path folder = golden::source_folder() / "testdata/fleet";
  std::filesystem::current_path(folder);
  const Result<Fleet> fleet = read_fleet({"january.ndjson", "february.ndjson"});
  REQUIRE(fleet);
  golden::compare(render_fleet_text(*fleet, {10}, {}), folder / "expected.txt");
  golden::compare(to_text(fleet_json(*fleet, {})), folder / "expected.json");
  golden::compare(render_fleet_csv(*fleet, {}), folder / "expected.csv");
  golden::compare(render_fleet_markdown(*fleet, {3}), folder / "expected.md");
  const Result<Fleet> over_time = read_fleet({"over_time.ndjson.gz"});
  REQUIRE(over_time);
  golden::compare(render_fleet_text(*over_time, {10}, {}), folder / "over_time.txt");
}

}  // namespace doctor::golden_fleet_test
