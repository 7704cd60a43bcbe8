// Sums of fleets that are added up: `fleet --partial`.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "built_paths.h"
#include "fleet/fleet_counter.h"
#include "fleet_rows.h"
#include "run_tool.h"
#include "text/json_page.h"

namespace doctor::fleet_test {
namespace {

/// Rows that differ in all that sums are made by, some broken, some in long histories, and words that are no row.
std::vector<TraceRow> many_rows() {
  std::vector<TraceRow> rows;
  for (int number = 0; number < 1'200; ++number) {
    TraceRow row = row_number(number);
    row.file.path = fmt::format("jobs/{}/plugins/profile/2026_01_{:02}_{:02}_00_00/host{}.xplane.pb", number % 3,
                                1 + number / 48 % 28, number / 2 % 24, number % 2);
    row.input_lost_us = kHour / (1 + number % 17);
    row.culprit_dataset = number % 5 == 0 ? "ParallelMapV2" : "MapV2";
    row.culprit_source = number % 4 == 0 ? fmt::format("a \"b\".py:{}", number % 7) : "";
    row.signature = fmt::format("{:016x}", number % 11);
    row.recorded_ns = number % 6 == 0 ? 0 : kStart + number * 3'600'000'000'000;
    row.get_next_p50_us = number > 600 ? 140 + number % 13 : 100 + number % 13;
    row.input_share = number % 9 == 0 ? std::nullopt : std::optional(0.25 + number % 3 / 7.0);
    row.step_p50_us = number > 700 ? 2'000 + number % 19 : 1'000 + number % 19;
    row.best_fix = "input-bound";
    row.best_gain = 1.3;
    row.best_condition = number % 2 == 0 ? "fits_in_memory" : "";
    if (number % 50 == 0) row.error = fmt::format("the gzip stream ends early at byte {}", number);
    rows.push_back(row);
  }
  return rows;
}

std::string json_of(const std::vector<std::string>& files, const RowGrouping& grouping = {}) {
  const Result<Fleet> fleet = read_fleet(files, grouping);
  if (!fleet) FAIL(to_string(fleet.error()));
  return to_text(fleet_json(*fleet, {0, 2.5}));
}

TEST_CASE("sums of parts come to what all rows do, also when sums of sums are made") {
  const TemporaryDirectory directory;
  const std::vector<TraceRow> rows = many_rows();
  const RowGrouping grouping = *RowGrouping::parse("job", "");
  std::vector<std::string> texts(4);
  for (std::size_t index = 0; index < rows.size(); ++index) texts[index * 7 % 4] += render_row(rows[index]);
  texts[1] += "no row\n";
  std::vector<std::string> files;
  std::vector<std::string> parts;
  for (std::size_t index = 0; index < texts.size(); ++index) {
    files.push_back(directory.write(fmt::format("{}.ndjson", index), texts[index]));
    const Result<std::string> sums = read_fleet_parts({files.back()}, grouping);
    REQUIRE(sums.has_value());
    parts.push_back(directory.write(fmt::format("{}.part", index), *sums));
  }
  const std::string whole = json_of(files, grouping);
  CHECK(json_of(parts, grouping) == whole);
  CHECK(whole.find("\"slower_jobs\": []") == std::string::npos);
  CHECK(whole.find("\"regression\": true") != std::string::npos);
  const std::string sums = *read_fleet_parts({parts[0], parts[1]}, grouping);
  CHECK(json_of({directory.write("sums", sums), parts[3], files[2]}, grouping) == whole);
  CHECK(*read_fleet_parts({parts[1], parts[0]}, grouping) == sums);
}

TEST_CASE("a group of very many jobs is written in several lines") {
  const TemporaryDirectory directory;
  std::string text;
  for (int number = 0; number < 100'001; ++number) {
    TraceRow row = row_number(number);
    row.file.path = fmt::format("jobs/{}/h.pb", number);
    text += render_row(row);
  }
  const std::string file = directory.write("rows", text);
  CHECK(json_of({directory.write("sums", *read_fleet_parts({file}))}) == json_of({file}));
}

TEST_CASE("sums that are not whole, or of other groups, are an error") {
  const TemporaryDirectory directory;
  const std::string sums = *read_fleet_parts({directory.write("rows", lines_of(many_rows()))});
  const std::size_t last_line = sums.rfind('\n', sums.size() - 2) + 1;
  const std::size_t second_line = sums.find('\n') + 1;
  const auto error_of = [&](const std::string& text) {
    const Result<Fleet> fleet = read_fleet({directory.write("sums", text)});
    return fleet ? "" : fleet.error().what;
  };
  CHECK(error_of(sums + sums).empty());
  const std::string not_whole = "has not all lines that 'fleet --partial' wrote";
  CHECK(error_of(sums.substr(0, last_line)) == not_whole);
  CHECK(error_of(sums.substr(0, second_line) + sums.substr(last_line)) == not_whole);
  CHECK(error_of(sums.substr(second_line)) == not_whole);
  std::string damaged = sums;
  damaged.replace(damaged.find("\"lost_ns\":"), 10, "\"lost\":");
  CHECK(error_of(damaged) == "is not sums that 'fleet --partial' writes");
  const Result<Fleet> grouped = read_fleet({directory.write("sums", sums)}, *RowGrouping::parse("job", ""));
  REQUIRE_FALSE(grouped.has_value());
  CHECK(grouped.error().what == "has groups by ''");
}

TEST_CASE("the command writes sums and adds them up") {
  const TemporaryDirectory directory;
  const std::string folder = source_dir() + "/testdata/fleet/";
  std::vector<std::string> parts;
  for (const char* name : {"january.ndjson", "over_time.ndjson.gz"}) {
    parts.push_back(directory / name);
    CHECK(run_tool({"fleet", "--partial", folder + name, "-o", parts.back()}).code == 0);
  }
  CHECK(run_tool({"fleet", parts[0], parts[1], "--top", "0"}).output ==
        run_tool({"fleet", folder + "january.ndjson", folder + "over_time.ndjson.gz", "--top", "0"}).output);
  const Ended refused = run_tool({"fleet", "--partial", parts[0], "--format", "json"});
  CHECK(refused.code == 2);
  CHECK(refused.errors.find("--format: is for pages") != std::string::npos);
}

}  // namespace
}  // namespace doctor::fleet_test
