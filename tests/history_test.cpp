// The numbers of a pipeline over its versions, and since which one they are what they are.

#include "compare/history.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "compare/change_points.h"
#include "compare/sessions.h"
#include "report/comparison_pages.h"
#include "report/html/html_page.h"
#include "summaries.h"
#include "unwrapped.h"

namespace doctor::history_test {
namespace {

constexpr std::int64_t kDay = 86'400'000'000'000;
constexpr std::int64_t kStart = 1'763'596'800'000'000'000;  // 2025-11-20

std::vector<double> noisy(const std::vector<double>& levels, std::size_t each, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (const double level : levels) {
    for (std::size_t index = 0; index < each; ++index) {
      values.push_back(level + 0.02 * static_cast<double>(random() % 1001) / 1000);
    }
  }
  return values;
}

TEST_CASE("a series changes where its values do, and nowhere else") {
  CHECK(change_points(noisy({1, 1.5}, 10, 1), 0.01) == std::vector<std::size_t>{10});
  CHECK(change_points(noisy({1, 1.5, 1.2}, 8, 2), 0.01) == std::vector<std::size_t>{8, 16});
  CHECK(change_points(noisy({1, 5}, 4, 3), 0.01).empty());  // of 70 orders of the eight, two are as extreme
  CHECK(change_points({}, 0.01).empty());
  CHECK(change_points(std::vector<double>(3, 1.0), 0.01).empty());
  CHECK(change_points(std::vector<double>(50, 1.0), 0.01).empty());
  std::size_t false_alarms = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) false_alarms += change_points(noisy({1}, 20, seed), 0.01).size();
  CHECK(false_alarms <= 4);
}

/// Twelve versions of three recordings, a day apart; from version 7 on the map calls its op twice.
std::vector<StoredRun> versions() {
  std::vector<StoredRun> runs;
  for (int version = 0; version < 12; ++version) {
    SummaryBuilder pipeline("Root Prefetch Batch ParallelMap Range");
    pipeline.runs("ParallelMap", "DecodeJpeg", 1000);
    if (version >= 7) pipeline["ParallelMap"].function_ops[0].durations.count *= 2;
    for (RunSummary& run : recordings(pipeline, 3, static_cast<std::uint64_t>(version))) {
      run.recording.host = "vm";
      run.recording.recorded_ns = kStart + version * kDay + static_cast<std::int64_t>(runs.size() % 3) * 1'000'000'000;
      runs.push_back({identifier_of(run), fmt::format("v{}", version), run});
    }
  }
  return runs;
}

History history() {
  return history_of(versions(), ThresholdValues(comparison_thresholds(), {}));
}

TEST_CASE("a history says since which version a number is another one") {
  const History known = history();
  REQUIRE(known.entries.size() == 12);
  CHECK(known.entries[7].label == "v7");
  CHECK(known.entries[7].recordings == 3);
  std::vector<std::string> changed;
  for (const HistorySeries& series : known.series) {
    for (const HistoryChange& change : series.changes) {
      changed.push_back(series.words);
      CHECK(change.entry == 7);
    }
  }
  CHECK(std::find(changed.begin(), changed.end(), "DecodeJpeg in ParallelMap") != changed.end());
  CHECK(std::find(changed.begin(), changed.end(), "step") == changed.end());
  CHECK(std::find(changed.begin(), changed.end(), "Batch") == changed.end());
}

TEST_CASE("a history as text, CSV and JSON") {
  const std::string text = render_history_text(history(), {});
  CHECK_MESSAGE(text.find("DecodeJpeg in ParallelMap: 1.01 ms -> 2.01 ms of a step (2") != std::string::npos, text);
  CHECK_MESSAGE(unwrapped(text).find("since v7 of 2025-11-27") != std::string::npos, text);
  const std::string csv = render_history_csv(history());
  CHECK(csv.starts_with("number,recorded_at,label,metric,words,value_us,change_ratio\n"));
  CHECK(csv.find("8,2025-11-27T00:00:0") != std::string::npos);
  const auto json = nlohmann::json::parse(to_text(history_json(history())));
  CHECK(json["schema"] == "tfdata-doctor.history/1");
  CHECK(json["entries"].size() == 12);
  CHECK(json["series"][0]["values_us"].size() == 12);
  CHECK(render_history_text({}, {}) == "no whole run to show\n");
  CHECK(nlohmann::json::parse(to_text(history_json({})))["entries"].empty());
}

TEST_CASE("a history on a page: the whole step, and what changed with the version since which it did") {
  const std::string json = to_text(history_json(history()));
  const std::string page = render_html({{"history", OrderedJson::parse(json)}}, "history");
  CHECK(page.find("Over the versions of the baseline") != std::string::npos);
  CHECK(page.find("DecodeJpeg in ParallelMap</h3>") != std::string::npos);
  CHECK(page.find("since v7 of 2025-11-27") != std::string::npos);
  CHECK(page.find("<h3>Batch</h3>") == std::string::npos);
  CHECK(render_html({{"history", OrderedJson::parse(to_text(history_json({})))}}, "none").find("id=\"history\"") ==
        std::string::npos);
}

TEST_CASE("the runs of a baseline with their time and machine") {
  const auto run = [](std::int64_t day, const std::string& label, const std::string& host) {
    StoredRun stored;
    stored.label = label;
    stored.summary = SummaryBuilder("Root Prefetch Map Range").run();
    stored.summary.source = "traces/base/run_0";
    RecordingFacts& facts = stored.summary.recording;
    if (host.empty()) return stored;
    facts.host = host;
    facts.cpu = "AMD EPYC 7B13 64-Core Processor";
    facts.cores = 16;
    facts.tensorflow = "2.21.0";
    facts.recorded_ns = kStart + day * kDay + kDay / 2;
    return stored;
  };
  CHECK(render_baseline_text({run(0, "3f2a1c", "runner-1"), run(1, "9ab01d", "runner-1")}, 80) == R"(2 runs

recorded (UTC)    label   median step  findings  source
2025-11-20 12:00  3f2a1c       400 us         0  traces/base/run_0
2025-11-21 12:00  9ab01d       400 us         0  traces/base/run_0

recorded on

host      CPU                              cores  TensorFlow
runner-1  AMD EPYC 7B13 64-Core Processor     16  2.21.0
)");
  CHECK(render_baseline_text({run(0, "3f2a1c", "runner-1"), run(1, "9ab01d", "runner-2"), run(0, "", "")}, 80) ==
        R"(3 runs

recorded (UTC)    label   machine  median step  findings  source
2025-11-20 12:00  3f2a1c        1       400 us         0  traces/base/run_0
2025-11-21 12:00  9ab01d        2       400 us         0  traces/base/run_0
-                 -             3       400 us         0  traces/base/run_0

recorded on

machine  host      CPU                              cores  TensorFlow
      1  runner-1  AMD EPYC 7B13 64-Core Processor     16  2.21.0
      2  runner-2  AMD EPYC 7B13 64-Core Processor     16  2.21.0
      3  -         -                                    -  -
)");
}

TEST_CASE("runs without a time are told apart by their labels") {
  std::vector<StoredRun> runs = versions();
  for (StoredRun& run : runs) run.summary.recording = {};
  CHECK(history_of(runs, ThresholdValues(comparison_thresholds(), {})).entries.size() == 12);
}

TEST_CASE("the last sessions of a baseline") {
  const ThresholdValues thresholds(comparison_thresholds(), {});
  std::vector<RunSummary> runs;
  for (const StoredRun& run : versions()) runs.push_back(run.summary);
  CHECK(count_of_last_sittings(runs, 1, thresholds) == 3);
  CHECK(count_of_last_sittings(runs, 4, thresholds) == 12);
  CHECK(count_of_last_sittings(runs, 100, thresholds) == runs.size());
  CHECK(count_of_last_sittings({}, 3, thresholds) == 0);
}

}  // namespace
}  // namespace doctor::history_test
