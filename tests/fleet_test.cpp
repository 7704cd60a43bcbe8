// What the rows of many traces come to: sums, ranks, pipelines over time, and that no order changes anything.

#include "fleet/fleet.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fleet/fleet_pages.h"
#include "fleet/trace_row.h"
#include "fleet_rows.h"
#include "io/line_reader.h"
#include "temporary_directory.h"
#include "unwrapped.h"

namespace doctor::fleet_test {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;

/// Rows of several causes, pipelines, jobs and errors, some of them dated, some with the same content.
std::vector<TraceRow> mixed_rows(std::mt19937& random) {
  std::vector<TraceRow> rows;
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int number = 0; number < 1000; ++number) {
    TraceRow row = row_number(below(900));
    row.file.path = fmt::format("jobs/{}/trace_{}.pb", below(7), below(1000));
    row.culprit_dataset = std::vector{"MapV2", "Map", "TFRecord", "BatchV2"}[static_cast<std::size_t>(below(4))];
    row.limiting_resource = below(2) == 0 ? "cpu" : "waiting";
    row.input_lost_us = 0.1 * below(100'000'000);
    row.signature = fmt::format("{:016x}", below(2));
    row.recorded_ns = below(5) == 0 ? 0 : kStart + below(40) * kDay;
    row.get_next_p50_us = 10 + below(100) * 0.1;
    if (below(3) == 0) row.findings.push_back({"slow-source", "warning", "Iterator::Root"});
    row.best_gain_low = 0.9 + 0.01 * below(100);
    if (below(2) == 0) row.best_gain = *row.best_gain_low + 0.01 * below(300);
    if (row.best_gain) row.best_fix = row.findings.back().rule;
    if (below(10) == 0) row = failed_row(row.file, fmt::format("ends early at byte {}", below(1000)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Fleet fleet_by(const std::string& key, const std::vector<TraceRow>& rows) {
  const TemporaryDirectory directory;
  const Result<RowGrouping> grouping = RowGrouping::parse(key, "--group-by");
  REQUIRE(grouping);
  const Result<Fleet> fleet = read_fleet({directory.write("rows.ndjson", lines_of(rows))}, *grouping);
  REQUIRE(fleet);
  return *fleet;
}

TEST_CASE("causes are ranked by the time lost to them, with the traces and jobs that they concern") {
  std::vector<TraceRow> rows = {row_number(1), row_number(2), row_number(3), row_number(4), row_number(5)};
  rows[1].culprit_dataset = "Map";  // the same kind of another runtime
  rows[1].file.path = "jobs/b/trace.pb";
  rows[2].culprit_dataset = "TFRecord";
  rows[2].culprit_kind = "source";
  rows[2].input_lost_us = 5 * kHour;
  rows[2].findings.push_back({"slow-source", "warning", "Iterator::Root"});
  rows[2].findings.push_back({"slow-source", "warning", "Iterator::Root::Other"});
  rows[3].culprit.clear();
  rows[3].culprit_kind.clear();
  rows[3].culprit_dataset.clear();
  rows[3].limiting_resource.clear();
  rows[3].verdict = "healthy";
  rows[3].findings.clear();
  rows[4].limiting_resource = "waiting";
  const Fleet fleet = fleet_of(rows);
  CHECK(fleet.rows == 5);
  CHECK(fleet.jobs == 2);
  CHECK(fleet.lost_ns == 9 * 3'600'000'000'000);
  CHECK(fleet.window_ns == 10 * 3'600'000'000'000);
  CHECK(fleet.verdicts.at("input_bound") == 4);
  CHECK(fleet.verdicts.at("healthy") == 1);
  REQUIRE(fleet.culprits.size() == 4);
  CHECK(fleet.culprits[0].culprit_dataset == "TFRecord");
  CHECK(fleet.culprits[0].share == doctest::Approx(5.0 / 9));
  CHECK(fleet.culprits[1].culprit_dataset == "Map");
  CHECK(fleet.culprits[1].limiting_resource == "cpu");
  CHECK(fleet.culprits[1].traces == 2);
  CHECK(fleet.culprits[1].jobs == 2);
  CHECK(fleet.culprits[1].example == "jobs/a/trace_1.pb");
  double shares = 0;
  for (const FleetCause& cause : fleet.culprits) shares += cause.share;
  CHECK(shares == doctest::Approx(1));
  REQUIRE(fleet.rules.size() == 2);
  CHECK(fleet.rules[0].rule == "input-bound");
  CHECK(fleet.rules[0].traces == 4);
  CHECK(fleet.rules[1].rule == "slow-source");
  CHECK(fleet.rules[1].traces == 1);
  CHECK(fleet.rules[1].lost_ns == 5 * 3'600'000'000'000);
}

TEST_CASE("lines of code are ranked where the rows say them") {
  std::vector<TraceRow> rows;
  for (int number = 0; number < 4; ++number) rows.push_back(row_number(number));
  CHECK(fleet_of(rows).lines.empty());
  rows[0].culprit_source = rows[1].culprit_source = rows[2].culprit_source = "src/input.py:33";
  rows[1].culprit_dataset = "ParallelMapV2";
  rows[3].culprit_source = "eval.py:7";
  rows[3].input_lost_us *= 9;
  const Fleet fleet = fleet_of(rows);
  REQUIRE(fleet.lines.size() == 3);
  CHECK(fleet.lines[0].source == "eval.py:7");
  CHECK(fleet.lines[0].culprit_dataset == "Map");
  CHECK(fleet.lines[0].share == doctest::Approx(9.0 / 12));
  CHECK(fleet.lines[1].source == "src/input.py:33");
  CHECK(fleet.lines[1].traces == 2);
  CHECK(fleet.lines[2].culprit_dataset == "ParallelMap");

  const std::string csv = render_fleet_csv(fleet, {});
  CHECK(csv.find(",example,source\nculprit,Map,transformation,cpu,,11,") != std::string::npos);
  CHECK(csv.find("\nline,Map,,,,9,0.75,1,1,0,,,jobs/a/trace_3.pb,eval.py:7\n") != std::string::npos);
  CHECK(csv.find("\nline,ParallelMap,,,,1,0.0833333333,1,1,0,,,jobs/a/trace_1.pb,src/input.py:33\n") !=
        std::string::npos);
  CHECK(csv.find("\nrule,,,,input-bound,12,1,4,1,0,,,jobs/a/trace_3.pb,\n") != std::string::npos);
}

TEST_CASE("what fixes would save adds up, by culprit and by the rule of the best fix") {
  constexpr std::int64_t kMinute = 60'000'000'000;
  std::vector<TraceRow> rows;
  for (int number = 0; number < 6; ++number) rows.push_back(row_number(number));  // 1 of 2 hours lost
  rows[0].best_fix = "input-bound";
  rows[0].best_gain = 1.25;  // 24 minutes of 2 hours
  rows[0].best_gain_low = 1;
  rows[1].findings.push_back({"slow-source", "warning", ""});
  rows[1].best_fix = "slow-source";
  rows[1].best_gain = 1.6;  // 45 minutes
  rows[1].best_gain_low = 1.25;
  rows[1].best_condition = "fits_in_memory";
  rows[2].limiting_resource = "waiting";
  rows[2].best_fix = "input-bound";
  rows[2].best_gain = 4;  // 90 minutes, of which an hour was lost
  rows[2].best_gain_low = 8;
  rows[3].best_fix = "input-bound";
  rows[3].best_gain = 0.5;
  rows[4] = failed_row({"broken.pb", 1, "broken"}, "is empty");
  const Fleet fleet = fleet_of(rows);
  CHECK(fleet.saved.traces == 4);
  CHECK(fleet.saved.ns == (24 + 45 + 60) * kMinute);
  CHECK(fleet.saved.low_ns == (0 + 24 + 60) * kMinute);
  REQUIRE(fleet.culprits.size() == 2);
  CHECK(fleet.culprits[0].saved.traces == 3);
  CHECK(fleet.culprits[0].saved.ns == (24 + 45) * kMinute);
  CHECK(fleet.culprits[1].saved.ns == 60 * kMinute);
  REQUIRE(fleet.rules.size() == 2);
  CHECK(fleet.rules[0].rule == "input-bound");
  CHECK(fleet.rules[0].traces == 5);
  CHECK(fleet.rules[0].saved.traces == 3);
  CHECK(fleet.rules[0].saved.ns == (24 + 60) * kMinute);
  CHECK(fleet.rules[1].saved.traces == 1);
  CHECK(fleet.rules[1].saved.ns == 45 * kMinute);
  const std::string page = render_fleet_text(fleet, {}, {});
  CHECK(unwrapped(page).find(
            "If fixed 2.15 h of 10 h recorded saved (22%), 1.4 h at the low end; predicted for 4 of 6 traces") !=
        std::string::npos);
  CHECK(page.find("on a condition") != std::string::npos);
  CHECK(page.find("money") == std::string::npos);
  const FleetView view = {.price = 20'000};
  CHECK(render_fleet_text(fleet, view, {}).find("43,000 saved, 28,000 at the low end, at 20,000 an hour") !=
        std::string::npos);
  CHECK(render_fleet_markdown(fleet, view).find("Money: 43,000 saved") != std::string::npos);
  CHECK(render_fleet_csv(fleet, view).find(",5,1,3,1.4,1,28000,20000,jobs/a/trace_0.pb,\n") != std::string::npos);
}

TEST_CASE("where nothing is predicted, a page says so only if the price was asked for") {
  const Fleet fleet = fleet_of({row_number(1)});
  const std::string page = render_fleet_text(fleet, {}, {});
  for (const char* const word : {"if fixed", "saved", "low end", "predicted"}) {
    CHECK(page.find(word) == std::string::npos);
  }
  const std::string priced = render_fleet_text(fleet, {.price = 2}, {});
  CHECK(unwrapped(priced).find("predicted for 0 of 1 trace") != std::string::npos);
  CHECK(priced.find("0 saved, 0 at the low end, at 2 an hour") != std::string::npos);
}

TEST_CASE("a job is the directory of the runs of a trace") {
  struct Case {
    std::string path;
    std::string job;
  };
  for (const Case& one : std::vector<Case>{{"a.pb", "."},
                                           {"logs/a.pb", "logs"},
                                           {"logs/plugins/profile/2026_01_01/host.xplane.pb", "logs"},
                                           {"plugins/profile/2026_01_01/host.xplane.pb", "."},
                                           {"logs/plugins/other/run/a.pb", "logs/plugins/other/run"},
                                           {"logs/profile/run/a.pb", "logs/profile/run"},
                                           {"/a.pb", "/"},
                                           {"a//b.pb", "a"},
                                           {"//a.pb", "/"},
                                           {"logs//plugins///profile/r/h.pb", "logs"},
                                           {"hdfs://name/jobs/7/a.pb", "hdfs://name/jobs/7"}}) {
    CHECK(job_of(one.path) == one.job);
  }
}

TEST_CASE("rows are grouped by job, line, culprit, pipeline, host or a part of the path") {
  std::vector<TraceRow> rows = {row_number(1), row_number(2), row_number(3)};
  rows[0].culprit_source = "src/input.py:33";
  rows[0].host = "worker-0";
  rows[2].file.path = "team-b/jobs/c/trace_3.pb";
  rows[2].culprit_dataset = "TFRecord";
  rows[2].signature = "00000000000000bb";
  rows[2].input_lost_us = kHour / 2;
  struct Case {
    std::string key;
    std::vector<std::pair<std::string, std::uint64_t>> groups;  ///< that lost most first, with their traces
  };
  for (const Case& one : std::vector<Case>{{"job", {{"jobs/a", 2}, {"team-b/jobs/c", 1}}},
                                           {"line", {{"src/input.py:33", 1}}},
                                           {"culprit", {{"Map", 2}, {"TFRecord", 1}}},
                                           {"pipeline", {{"00000000000000aa", 2}, {"00000000000000bb", 1}}},
                                           {"host", {{"worker-0", 1}}},
                                           {"path:jobs/([a-z])/", {{"a", 2}, {"c", 1}}},
                                           {"path:team-[a-z]", {{"team-b", 1}}},
                                           {"path:(team)?jobs", {}},
                                           {"path:x*", {}}}) {
    CAPTURE(one.key);
    const Fleet fleet = fleet_by(one.key, rows);
    CHECK(fleet.grouped_by == one.key);
    std::vector<std::pair<std::string, std::uint64_t>> groups;
    for (const FleetCause& group : fleet.groups) groups.emplace_back(group.group, group.traces);
    CHECK(groups == one.groups);
  }
  const Fleet fleet = fleet_by("culprit", rows);
  CHECK(fleet.groups[0].lost_ns == 2 * fleet.groups[1].lost_ns * 2);
  CHECK(fleet_of(rows).groups.empty());
}

TEST_CASE("what is no key and no regular expression is refused with its place") {
  for (const std::string wrong : {"", "jobs", "path", "path:(", "path:[a", "path:*{"}) {
    CAPTURE(wrong);
    const Result<RowGrouping> grouping = RowGrouping::parse(wrong, "TFDATA_DOCTOR_GROUP_BY");
    REQUIRE_FALSE(grouping);
    CHECK(grouping.error().where == "TFDATA_DOCTOR_GROUP_BY");
    CHECK_FALSE(grouping.error().what.empty());
  }
}

TEST_CASE("no order of rows and no way to spread them over files changes anything") {
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::vector<TraceRow> rows = mixed_rows(random);
    const Fleet expected = fleet_of(rows);
    const FleetView view = {.price = 2.48};
    const std::string page = to_text(fleet_json(expected, view)) + render_fleet_text(expected, view, {});
    CHECK(expected.saved.traces > 200);
    CHECK(expected.saved.ns > expected.saved.low_ns);
    CHECK(expected.repeated > 0);
    CHECK(expected.errors.size() == 1);
    std::shuffle(rows.begin(), rows.end(), random);
    const Fleet shuffled = fleet_of(rows);
    CHECK(to_text(fleet_json(shuffled, view)) + render_fleet_text(shuffled, view, {}) == page);
    const TemporaryDirectory directory;
    std::vector<std::string> texts(4);
    for (const TraceRow& row : rows) texts[random() % texts.size()] += render_row(row);
    std::vector<std::string> files;
    for (std::size_t index = 0; index < texts.size(); ++index) {
      files.push_back(directory.write(fmt::format("{}.ndjson", index), texts[index]));
    }
    const Result<Fleet> spread = read_fleet(files);
    REQUIRE(spread);
    CHECK(to_text(fleet_json(*spread, view)) + render_fleet_text(*spread, view, {}) == page);
    std::vector<std::string> again = files;
    again.insert(again.end(), files.begin(), files.end());
    const Result<Fleet> twice = read_fleet(again);
    REQUIRE(twice);
    CHECK(twice->rows == expected.rows);
    CHECK(twice->lost_ns == expected.lost_ns);
  }
}

TEST_CASE("a pipeline that became slower is a regression where that is sure") {
  struct Case {
    std::string name;
    int recordings;
    double earlier;
    double later;
    bool is_dated;
    bool is_regression;
  };
  for (const Case& one : std::vector<Case>{{"slower", 12, 100, 200, true, true},
                                           {"faster", 12, 200, 100, true, false},
                                           {"the same", 12, 100, 100, true, false},
                                           {"too few", 8, 100, 200, true, false},
                                           {"no dates", 12, 100, 200, false, false},
                                           {"very many", 1000, 100, 102, true, true}}) {
    CAPTURE(one.name);
    std::vector<TraceRow> rows;
    for (int number = 0; number < one.recordings; ++number) {
      TraceRow& row = rows.emplace_back(row_number(number));
      row.recorded_ns = one.is_dated ? kStart + number * kDay : 0;
      row.get_next_p50_us = (number < one.recordings / 2 ? one.earlier : one.later) + 0.001 * (number % 10);
    }
    const Fleet fleet = fleet_of(rows);
    REQUIRE(fleet.pipelines.size() == 1);
    const FleetPipeline& pipeline = fleet.pipelines.front();
    CHECK(pipeline.is_regression == one.is_regression);
    CHECK(fleet.regressions.size() == (one.is_regression ? 1 : 0));
    const bool is_told = render_fleet_text(fleet, {}, {}).find("Pipelines that became slower") != std::string::npos;
    CHECK(is_told == one.is_regression);
    CHECK(pipeline.dated_traces == (one.is_dated ? rows.size() : 0));
    REQUIRE(pipeline.get_next_p50.has_value() == one.is_dated);
    if (!one.is_dated) continue;
    CHECK(pipeline.get_next_p50->first == rows.front().get_next_p50_us);
    CHECK(pipeline.get_next_p50->last == rows.back().get_next_p50_us);
    CHECK(pipeline.get_next_p50->earlier == doctest::Approx(one.earlier).epsilon(0.001));
    CHECK(pipeline.get_next_p50->later == doctest::Approx(one.later).epsilon(0.001));
  }
}

TEST_CASE("recordings of the same moment are never on both sides of the middle") {
  std::vector<TraceRow> rows;
  for (int number = 0; number < 20; ++number) {
    TraceRow& row = rows.emplace_back(row_number(number));
    row.recorded_ns = number < 6 ? kStart : kStart + kDay;
    row.get_next_p50_us = number < 6 ? 100 : 200;
  }
  const Fleet fleet = fleet_of(rows);
  CHECK(fleet.pipelines.front().earlier_count == 6);
  CHECK(fleet.pipelines.front().is_regression);
}

}  // namespace
}  // namespace doctor::fleet_test
