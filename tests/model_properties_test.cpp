// What holds for the model of every recorded pipeline.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "model/candidates.h"
#include "model/prediction.h"
#include "model_rates.h"
#include "pipeline.h"
#include "timed_pipeline.h"

namespace doctor::model_test {
namespace {

namespace fs = std::filesystem;

/// The recorded traces of the repository of which there is a model.
const std::vector<Analysis>& recorded() {
  static const std::vector<Analysis> kAnalyses = [] {
    std::vector<Analysis> analyses;
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(source_dir()) / "testdata/traces")) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".pb") || name.ends_with(".gz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      analyses.push_back(diagnose_files(std::vector<std::string>{file}, {}));
      if (!model_of(analyses.back().measurements.hosts.front()).exists()) analyses.pop_back();
    }
    return analyses;
  }();
  return kAnalyses;
}

/// A few things may happen in another order, and a buffer be filled at another time.
constexpr double kTolerance = 0.97;

/// Whether the programs of an edit, replayed, are no faster and no slower than the pipeline as it is.
void check_against_programs(const PipelineModel& model, const Edit& edit) {
  Programs programs = compile(*model.host, model.facts, edit, /*is_traced=*/false);
  programs.cpu_scale = model.cpu_scale;
  const Replay replayed = replay(programs);
  const Replay answered = replay_after(model, edit);
  CHECK(answered.steps_per_s == replayed.steps_per_s);
  CHECK(answered.events == replayed.events);
  CHECK(answered.input_share == replayed.input_share);
  CHECK(answered.pool_in_use == replayed.pool_in_use);
  CHECK(answered.limited_by.resource == replayed.limited_by.resource);
  CHECK(answered.limited_by.stage == replayed.limited_by.stage);
}

TEST_CASE("more cores, a faster stage and ready elements never lower the rate of a recorded pipeline") {
  CHECK(recorded().size() > 15);
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    const PipelineModel model = model_of(host);
    Edit more_cores;
    more_cores.cores = 2 * model.sample().cores;
    CHECK(replay_after(model, more_cores).steps_per_s >= kTolerance * model.now.steps_per_s);
    for (const StageGain& stage : rank_stages(model, 4)) {
      CAPTURE(host.iterators[stage.stage].long_name);
      CHECK(stage.steps_per_s >= kTolerance * model.now.steps_per_s);
    }
    CHECK(predict_without_input(model).estimate >= kTolerance * model.now.steps_per_s);
  }
}

TEST_CASE("a fix that changes nothing gains nothing, and no fix of threads or buffers loses") {
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    const PipelineModel model = model_of(host);
    CHECK(rate_with(model, fix(FixKind::none)) == model.now.steps_per_s);
    for (const Fix& candidate : candidate_fixes(model)) {
      CAPTURE(to_string(candidate, host));
      const Prediction prediction = predict(model, std::span(&candidate, 1));
      CHECK(prediction.low <= prediction.estimate);
      CHECK(prediction.estimate <= prediction.high);
      Edit edit;
      apply(candidate, model, edit);
      if (!edit.changes_work()) CHECK(prediction.estimate >= model.now.steps_per_s);
      CHECK(parse_fix(to_string(candidate, host), host) == candidate);
    }
  }
}

/// Edits that lessen the work of one stage.
std::vector<Edit> lessening(StageIndex stage) {
  std::vector<Edit> edits(3);
  edits[0].free.insert(stage);
  edits[1].vectorized[stage] = 8;
  edits[2].work_factor[stage] = 0.5;
  return edits;
}

TEST_CASE("no replay is faster than the bound that spares one") {
  std::size_t bounds = 0;
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    const PipelineModel model = model_of(host);
    for (const StageLoad& load : stage_loads(model)) {
      CAPTURE(host.iterators[load.stage].long_name);
      for (const Edit& edit : lessening(load.stage)) {
        const double most = most_speedup(model, edit);
        bounds += std::isfinite(most) ? 1 : 0;
        CHECK(replay_after(model, edit).steps_per_s <= most * model.now.steps_per_s);
        Edit with_another = edit;
        with_another.cached.insert(load.stage);
        CHECK(std::isinf(most_speedup(model, with_another)));
      }
    }
  }
  CHECK(bounds > 100);
}

TEST_CASE("stages that are left out of the ranking gain clearly less") {
  std::size_t left_out = 0;
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    const PipelineModel model = model_of(host);
    const std::vector<StageGain> ranked = rank_stages(model, 5);
    std::vector<StageLoad> loads = stage_loads(model);
    loads.resize(std::min<std::size_t>(loads.size(), 5));
    for (const StageLoad& load : loads) {
      const bool is_ranked =
          std::any_of(ranked.begin(), ranked.end(), [&](const StageGain& stage) { return stage.stage == load.stage; });
      if (is_ranked || ranked.empty()) continue;
      ++left_out;
      CAPTURE(host.iterators[load.stage].long_name);
      Edit edit;
      edit.free.insert(load.stage);
      CHECK(replay_after(model, edit).steps_per_s < ranked.front().steps_per_s);
    }
  }
  CHECK(left_out > 10);
}

TEST_CASE("what is not replayed, because it changes nothing, is what a replay would have said") {
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    const PipelineModel model = model_of(host);
    for (StageIndex stage = 0; stage < model.sample().stages.size(); ++stage) {
      for (const std::int64_t room : {1, 2, 3, 20}) {
        Edit edit;
        edit.buffer[stage] = room;
        check_against_programs(model, edit);
      }
    }
    for (const std::int64_t threads : {1, 2, 4, 64}) {
      Edit edit;
      edit.pool_threads = threads;
      check_against_programs(model, edit);
    }
  }
}

TEST_CASE("twice the times are half the rate") {
  for (const double factor : {2.0, 4.0}) {
    const TimedPipeline once(10, 6);
    const TimedPipeline slowed(10 * factor, 6 * factor);
    CHECK(is_nearly(slowed.model().now.steps_per_s, once.model().now.steps_per_s / factor));
  }
}

}  // namespace
}  // namespace doctor::model_test
