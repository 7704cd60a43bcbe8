// Loops of Keras, JAX and NumPy over tf.data that were recorded with a cost which is known: 20 ms of sleep for each
// step and, in the input, 60 ms (bound) or 0.5 ms (healthy) for each element, made two elements ahead. Each folder has
// a file for each profiler and what the loop measured itself.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"

namespace doctor::recorded_loops_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct RecordedLoop {
  std::string name;
  std::vector<std::string> files;
  bool is_bound = false;
  double wait_share = 0;
  double tolerance = 0;  ///< of the share: some could be measured roughly only
};

std::vector<RecordedLoop> recorded_loops() {
  std::vector<RecordedLoop> loops;
  for (const fs::directory_entry& folder : fs::directory_iterator(source_dir() + "/testdata/accelerators")) {
    RecordedLoop& loop = loops.emplace_back();
    loop.name = folder.path().filename().string();
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path())) {
      if (file.path().extension() == ".gz") loop.files.push_back(file.path().string());
    }
    std::sort(loop.files.begin(), loop.files.end());
    std::ifstream labels(folder.path() / "truth.json");
    const Json truth = Json::parse(labels);
    loop.is_bound = truth["is_bound"];
    loop.wait_share = truth["wait_share"];
    loop.tolerance = truth.value("tolerance", 0.03);
  }
  std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return loops;
}

TEST_CASE("recorded loops: verdict, share of the wait and culprit are right, and two files are one host") {
  const std::vector<RecordedLoop> loops = recorded_loops();
  REQUIRE(loops.size() >= 12);
  for (const RecordedLoop& loop : loops) {
    CAPTURE(loop.name);
    const Analysis analysis = diagnose_files(loop.files, {.rules = all_rules()});
    CHECK(analysis.measurements.hosts.size() == 1);
    const Judgement& judgement = analysis.diagnosis.judgement;
    CHECK(judgement.status == (loop.is_bound ? VerdictStatus::input_bound : VerdictStatus::healthy));
    REQUIRE(!judgement.pipelines.empty());
    const PipelineMeasurement& measured = analysis.measurements.hosts[0].pipelines[judgement.pipelines[0].pipeline];
    CHECK(std::abs(measured.judged_cadence().share - loop.wait_share) <= loop.tolerance);
    const bool shows_iterators = analysis.measurements.hosts[0].iterator_event_count > 0;
    if (!loop.is_bound || !shows_iterators) continue;
    const IteratorId culprit = judgement.pipelines[0].culprit;
    REQUIRE(culprit != kNoIterator);
    CHECK(analysis.measurements.hosts[0].iterators[culprit].short_name == "Map");
  }
}

}  // namespace
}  // namespace doctor::recorded_loops_test
