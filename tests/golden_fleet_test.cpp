// What documents say of rows and of a fleet:
//
// docs/batch.md           holds the table of all columns of a row
// docs/schemas/row-2.json is the schema of a row
// scripts/engines/spark.py knows its columns
// testdata/fleet/<file>   the pages of the rows in testdata/fleet/*.ndjson

#include <doctest/doctest.h>

#include "fleet/fleet.h"
#include "fleet/fleet_report.h"
#include "fleet/row_columns.h"
#include "golden_file.h"
#include "query/warehouse.h"

namespace doctor::golden_fleet_test {
TEST_CASE("the page about rows has all columns") {
  golden::compare_part(row_columns_table(), golden::source_folder() / "docs/batch.md",
                       "<!-- The table is written by scripts/accept-golden. -->\n", "<!-- End of the table. -->\n");
}

TEST_CASE("the schema of a row has all columns") {
  golden::compare(row_json_schema(), golden::source_folder() / "docs/schemas/row-2.json");
}

TEST_CASE("the script for Spark has all columns") {
  golden::compare_part(warehouse_schema(Warehouse::spark, LoadedTable::rows),
                       golden::source_folder() / "scripts/engines/spark.py", "SCHEMA = \"\"\"\n", "\"\"\"\nTIME");
}

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
