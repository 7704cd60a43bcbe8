// What documents say of rows and of a fleet:
//
// docs/batch.md           holds the table of all columns of a row
// testdata/fleet/<file>   the pages of the rows in testdata/fleet/*.ndjson

#include <doctest/doctest.h>

#include "fleet/fleet.h"
#include "fleet/fleet_report.h"
#include "fleet/row_columns.h"
#include "golden_file.h"

namespace doctor::golden_fleet_test {
TEST_CASE("the page about rows has all columns") {
  golden::compare_part(row_columns_table(), golden::source_folder() / "docs/batch.md",
                       "<!-- The table is written by scripts/accept-golden. -->\n", "<!-- End of the table. -->\n");
}

TEST_CASE("the pages of recorded rows") {
  const std::filesystem::path folder = golden::source_folder() / "testdata/fleet";
  std::filesystem::current_path(folder);
  const Result<Fleet> fleet = read_fleet({"january.ndjson", "february.ndjson"});
  REQUIRE(fleet);
  golden::compare(render_fleet_text(*fleet, {10}, {}), folder / "expected.txt");
  golden::compare(render_fleet_json(*fleet, {}), folder / "expected.json");
  golden::compare(render_fleet_csv(*fleet, {}), folder / "expected.csv");
  golden::compare(render_fleet_markdown(*fleet, {3}), folder / "expected.md");
}

}  // namespace doctor::golden_fleet_test
