// Rows of traces and the fleet that they make.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "fleet/trace_row.h"
#include "io/line_reader.h"
#include "temporary_directory.h"

namespace doctor::fleet_test {

constexpr double kHour = 3.6e9;  // us

constexpr std::int64_t kStart = 1'767'225'600'000'000'000;  // 2026-01-01

/// A row of an input-bound trace whose content is told by `number`.
inline TraceRow row_number(int number) {
  TraceRow row;
  row.file = {fmt::format("jobs/a/trace_{}.pb", number), 10, fmt::format("{:064x}", number)};
  row.format = "xspace";
  row.verdict = "input_bound";
  row.window_us = 2 * kHour;
  row.input_lost_us = kHour;
  row.input_share = 0.5;
  row.signature = "00000000000000aa";
  row.culprit = "Iterator::Root::MapV2";
  row.culprit_kind = "transformation";
  row.culprit_dataset = "MapV2";
  row.limiting_resource = "cpu";
  row.get_next_p50_us = 100;
  row.findings = {{"input-bound", "error", ""}};
  return row;
}

inline std::string lines_of(const std::vector<TraceRow>& rows) {
  std::string text;
  for (const TraceRow& row : rows) text += render_row(row);
  return text;
}

inline Fleet fleet_of(const std::string& text) {
  const TemporaryDirectory directory;
  const Result<Fleet> fleet = read_fleet({directory.write("rows.ndjson", text)});
  REQUIRE(fleet);
  return *fleet;
}

inline Fleet fleet_of(const std::vector<TraceRow>& rows) {
  return fleet_of(lines_of(rows));
}

}  // namespace doctor::fleet_test
