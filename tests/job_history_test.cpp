// Jobs over time: the first run from which on the steps of one take longer.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "fleet/trace_row.h"
#include "report/html/html_page.h"
#include "temporary_directory.h"

namespace doctor::job_history_test {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;
constexpr std::int64_t kStart = 1'767'225'600'000'000'000;  // 2026-01-01

TraceRow row_of_run(const std::string& job, std::size_t run, double step_us) {
  TraceRow row;
  row.file = {fmt::format("{}/plugins/profile/run_{:02}/host.xplane.pb", job, run), 10, fmt::format("{}{}", job, run)};
  row.recorded_ns = kStart + static_cast<std::int64_t>(run) * kDay;
  row.verdict = "healthy";
  row.window_us = 1e6;
  row.step_p50_us = step_us;
  return row;
}

/// A run a day, each with a step of its level and up to `noise` of it more.
std::vector<TraceRow> runs_of(const std::string& job, const std::vector<double>& levels, double noise = 0.08) {
  std::mt19937_64 random(7);
  std::vector<TraceRow> rows;
  for (const double level : levels) {
    const double more = noise * static_cast<double>(random() % 1001) / 1000;
    rows.push_back(row_of_run(job, rows.size(), level * (1 + more)));
  }
  return rows;
}

std::vector<double> levels(std::size_t before_count, double before, std::size_t after_count, double after) {
  std::vector<double> values(before_count, before);
  values.insert(values.end(), after_count, after);
  return values;
}

Fleet fleet_of(const std::vector<TraceRow>& rows) {
  const TemporaryDirectory directory;
  std::string text;
  for (const TraceRow& row : rows) text += render_row(row);
  const Result<Fleet> fleet = read_fleet({directory.write("rows.ndjson", text)});
  REQUIRE(fleet);
  return *fleet;
}

TEST_CASE("a job that got slower for good is named with its first slower run") {
  std::vector<TraceRow> rows = runs_of("jobs/a", levels(12, 10'000, 9, 15'000));
  for (std::size_t run = 12; run < rows.size(); ++run) {
    rows[run].verdict = "input_bound";
    rows[run].culprit_dataset = "ParallelMapV2";
    rows[run].limiting_resource = "cores";
    rows[run].input_share = 0.4;
  }
  const std::vector<TraceRow> others = runs_of("jobs/b", levels(21, 10'000, 0, 0));
  rows.insert(rows.end(), others.begin(), others.end());
  const Fleet fleet = fleet_of(rows);
  REQUIRE(fleet.slower_jobs.size() == 1);
  const JobHistory& job = fleet.slower_jobs.front();
  CHECK(job.job == "jobs/a");
  CHECK(job.runs.size() == 21);
  REQUIRE(job.slowdowns.size() == 1);
  const JobSlowdown& slowdown = job.slowdowns.front();
  CHECK(slowdown.run == 12);
  CHECK_FALSE(slowdown.until);
  CHECK(slowdown.ratio() == doctest::Approx(1.5).epsilon(0.03));
  CHECK(job.runs[12].trace == "jobs/a/plugins/profile/run_12/host.xplane.pb");
  CHECK(job.runs[12].input_share == 0.4);
  CHECK(describe_cause(job, slowdown) ==
        "verdict healthy -> input_bound, culprit none -> ParallelMap, limited by none -> cores");
}

TEST_CASE("what is no lasting change of a job is not named") {
  struct Case {
    std::string name;
    std::vector<double> levels;
    double noise = 0.08;
  };
  std::vector<double> one_slow(20, 10'000);
  one_slow[10] = 50'000;
  std::vector<double> drift;
  for (int run = 0; run < 30; ++run) drift.push_back(10'000 * (1 + 0.008 * run));
  std::vector<double> faster = levels(12, 15'000, 12, 10'000);
  for (const Case& one : std::vector<Case>{{"one slow run", one_slow},
                                           {"a slow last run", levels(20, 10'000, 1, 50'000)},
                                           {"a slow drift", drift, 0.3},
                                           {"three runs", levels(1, 10'000, 2, 50'000)},
                                           {"eight runs", levels(4, 10'000, 4, 50'000)},
                                           {"noise", std::vector<double>(40, 10'000), 1},
                                           {"little", levels(20, 10'000, 20, 11'500), 0},
                                           {"faster", faster}}) {
    CAPTURE(one.name);
    CHECK(fleet_of(runs_of("jobs/a", one.levels, one.noise)).slower_jobs.empty());
  }
}

TEST_CASE("a job that is as fast as before again comes after those that are still slower") {
  std::vector<double> spell = levels(20, 10'000, 20, 30'000);
  spell.insert(spell.end(), 20, 10'500);
  std::vector<TraceRow> rows = runs_of("jobs/spell", spell);
  const std::vector<TraceRow> lasting = runs_of("jobs/lasting", levels(12, 10'000, 12, 15'000));
  rows.insert(rows.end(), lasting.begin(), lasting.end());
  const Fleet fleet = fleet_of(rows);
  REQUIRE(fleet.slower_jobs.size() == 2);
  CHECK(fleet.slower_jobs[0].job == "jobs/lasting");
  CHECK(fleet.slower_jobs[1].job == "jobs/spell");
  REQUIRE(fleet.slower_jobs[1].slowdowns.size() == 1);
  CHECK(fleet.slower_jobs[1].slowdowns[0].run == 20);
  CHECK(fleet.slower_jobs[1].slowdowns[0].until == 40);
  const std::string text = render_fleet_text(fleet, {}, {});
  CHECK(text.find("Slower    jobs/lasting since 2026-01-13 00:00:00: a step takes") != std::string::npos);
}

TEST_CASE("the hosts of a run are one run, with the step for which all wait") {
  std::vector<TraceRow> rows = runs_of("jobs/a", levels(12, 10'000, 12, 15'000));
  const std::size_t count = rows.size();
  for (std::size_t run = 0; run < count; ++run) {
    TraceRow& other = rows.emplace_back(rows[run]);
    other.file.path = fmt::format("jobs/a/plugins/profile/run_{:02}/other.xplane.pb", run);
    other.file.sha256 += "other";
    other.recorded_ns += 1'000'000'000;
    *other.step_p50_us *= run % 2 == 0 ? 0.5 : 1.01;
  }
  const Fleet fleet = fleet_of(rows);
  REQUIRE(fleet.slower_jobs.size() == 1);
  const JobHistory& job = fleet.slower_jobs.front();
  CHECK(job.runs.size() == count);
  CHECK(job.runs[0].trace == rows[0].file.path);
  CHECK(job.runs[1].trace == "jobs/a/plugins/profile/run_01/other.xplane.pb");
  CHECK(job.runs[1].recorded_ns == rows[1].recorded_ns);
  CHECK(job.slowdowns.front().run == 12);
}

TEST_CASE("the name of a run's folder says when it was where the trace does not") {
  CHECK(time_of_run_folder("jobs/a/plugins/profile/2026_01_02_03_04_05") ==
        kStart + kDay + (3 * 3600 + 4 * 60 + 5) * 1'000'000'000LL);
  for (const char* const name : {"", "run_1", "2026_13_02_03_04_05", "2026-01-02T03:04:05", "2026_01_02_03_04_05_1"}) {
    CAPTURE(name);
    CHECK(time_of_run_folder(name) == 0);
  }
  std::vector<TraceRow> rows = runs_of("jobs/a", levels(12, 10'000, 12, 15'000));
  for (TraceRow& row : rows) row.recorded_ns = 0;
  CHECK(fleet_of(rows).slower_jobs.empty());
  for (std::size_t run = 0; run < rows.size(); ++run) {
    rows[run].file.path = fmt::format("jobs/a/plugins/profile/2026_01_{:02}_03_04_05/host.trace.json.gz", run + 1);
  }
  REQUIRE(fleet_of(rows).slower_jobs.size() == 1);
  CHECK(fleet_of(rows).slower_jobs.front().slowdowns.front().run == 12);
}

TEST_CASE("no order of rows changes what is said of jobs, and the last runs count") {
  std::vector<TraceRow> rows = runs_of("jobs/a", levels(700, 10'000, 30, 15'000));
  const std::vector<TraceRow> others = runs_of("jobs/b", levels(20, 10'000, 20, 15'000));
  rows.insert(rows.end(), others.begin(), others.end());
  const std::string expected = to_text(fleet_json(fleet_of(rows), {}));
  std::mt19937 random(3);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(rows.begin(), rows.end(), random);
    CHECK(to_text(fleet_json(fleet_of(rows), {})) == expected);
  }
  const Fleet fleet = fleet_of(rows);
  REQUIRE(fleet.slower_jobs.size() == 2);
  for (const JobHistory& job : fleet.slower_jobs) {
    if (job.job != "jobs/a") continue;
    CHECK(job.runs.size() == 400);
    CHECK(job.slowdowns.front().run == 370);
  }
}

TEST_CASE("a job that got slower on every page, its foreign text escaped; one that did not on none") {
  const std::string name = "jobs/<b>|\x1b";
  const Fleet fleet = fleet_of(runs_of(name, levels(12, 10'000, 12, 1e300)));
  REQUIRE(fleet.slower_jobs.size() == 1);
  const std::string text = render_fleet_text(fleet, {}, {});
  const std::string markdown = render_fleet_markdown(fleet, {});
  const std::string json = to_text(fleet_json(fleet, {}));
  const std::string html = render_html({{"fleet", OrderedJson::parse(json)}}, "fleet");
  for (const std::string& page : {text, markdown, html}) {
    CHECK(page.find("obs that got slower") != std::string::npos);
    CHECK(page.find('\x1b') == std::string::npos);
  }
  CHECK(markdown.find("<b>") == std::string::npos);
  CHECK(html.find("<b>|") == std::string::npos);
  const auto document = nlohmann::json::parse(json);
  CHECK(document["slower_jobs"][0]["slowdowns"][0]["since"] == "2026-01-13T00:00:00.000000Z");
  CHECK(document["slower_jobs"][0]["runs"].size() == 24);
  const Fleet steady = fleet_of(runs_of("jobs/a", levels(12, 10'000, 12, 10'000)));
  CHECK(render_fleet_text(steady, {}, {}).find("slower") == std::string::npos);
}

}  // namespace
}  // namespace doctor::job_history_test
