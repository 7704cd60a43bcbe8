// The pages about one trace tell the same, or say why they do not.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "built_paths.h"
#include "pipeline.h"
#include "report/selection.h"
#include "shown_page.h"

namespace doctor::pages_agree_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> recorded_traces() {
  std::vector<std::string> traces;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_dir() + "/testdata/traces")) {
    if (entry.is_regular_file() && entry.path().extension() != ".json") traces.push_back(entry.path().string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

Analysis analyze_with_profile(const std::string& path) {
  TraceNeeds options;
  options.profile = ProfileParts();
  return diagnose_files(std::vector<std::string>{path}, {.needs = options});
}

std::size_t column(const DataTable& table, std::string_view key) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& one) { return one.key == key; });
  REQUIRE(found != table.columns.end());
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// Of the rows of `show steps` that count.
double input_share_of_rows(const DataTable& steps) {
  double input = 0;
  double all = 0;
  for (const std::vector<Cell>& row : steps.rows) {
    if (!std::get<bool>(row[column(steps, "counted")])) continue;
    input += static_cast<double>(std::get<std::int64_t>(row[column(steps, "input_us")]));
    all += static_cast<double>(std::get<std::int64_t>(row[column(steps, "duration_us")]));
  }
  return all > 0 ? input / all : 0;
}

TEST_CASE("overview, input page and steps give one share, and the verdict's is the same or explained") {
  std::size_t with_steps = 0;
  for (const std::string& trace : recorded_traces()) {
    CAPTURE(trace);
    const Analysis analysis = analyze_with_profile(trace);
    const StepOverview overview = step_overview(analysis.measurements, analysis.diagnosis);
    if (!overview.summary.input_share) continue;
    ++with_steps;
    const double share = *overview.summary.input_share;
    CHECK(share >= 0);
    CHECK(share <= 1);
    CHECK(overview.input_share == overview.summary.input_share);
    CHECK(share == doctest::Approx(input_share_of_rows(page_rows(kStepsPage, analysis.measurements))));
    const std::vector<PipelineView> pipelines = pipelines_of(analysis.measurements, analysis.diagnosis.judgement);
    if (pipelines.empty() || !input_share_of(pipelines.front())) continue;
    const bool is_same = std::abs(share - *input_share_of(pipelines.front())) < 0.05;
    CHECK(overview.verdict_note.empty() == is_same);
  }
  CHECK(with_steps > 10);
}

TEST_CASE("no share of the input page is above 1, and those of the work sum to 1") {
  for (const std::string& trace : recorded_traces()) {
    CAPTURE(trace);
    const Analysis analysis = analyze_with_profile(trace);
    const DataTable table = page_rows(kInputPage, analysis.measurements);
    double work = 0;
    for (const std::vector<Cell>& row : table.rows) {
      for (const std::string_view key : {"total_share", "work_share"}) {
        CAPTURE(key);
        const double share = std::get<double>(row[column(table, key)]);
        CHECK(share >= 0);
        CHECK(share <= 1);
      }
      work += std::get<double>(row[column(table, "work_share")]);
    }
    if (!table.rows.empty()) CHECK(work == doctest::Approx(1));
  }
}

TEST_CASE("a function's time is that in its ops and that without") {
  std::size_t functions = 0;
  for (const std::string& trace : recorded_traces()) {
    CAPTURE(trace);
    const Analysis analysis = diagnose_files(std::vector<std::string>{trace}, {});
    for (const HostMeasurement& host : analysis.measurements.hosts) {
      for (const PipelineMeasurement& pipeline : host.pipelines) {
        for (const PhaseMeasurement* phase : {&pipeline.warmup, &pipeline.steady}) {
          if (phase->culprit == kNoIterator) continue;
          const Picoseconds in_function = phase->in_function[phase->culprit];
          for (const FunctionOp& op : phase->function_ops) CHECK(op.self <= in_function - phase->function_idle);
          for (const OpBeside& op : phase->beside) CHECK(op.time <= phase->function_idle);
          functions += in_function > 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK(functions > 5);
}

}  // namespace

}  // namespace doctor::pages_agree_test
