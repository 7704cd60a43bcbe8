#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/candidates.h"
#include "model/prediction.h"
#include "pipeline.h"
#include "timed_pipeline.h"

namespace doctor::model_test {
namespace {

namespace fs = std::filesystem;

Fix fix(FixKind kind, IteratorId iterator = kNoIterator, std::optional<std::int64_t> parallelism = {}) {
  return {kind, iterator, parallelism, {}};
}

double rate_with(const PipelineModel& model, const Fix& change) {
  return predict(model, std::span(&change, 1)).estimate;
}

/// Replays know how long a thread takes to wake up, so that rates are a little lower than the work alone would have it.
bool is_nearly(double rate, double expected) {
  return rate > 0.95 * expected && rate < 1.05 * expected;
}

TEST_CASE("the slower of two stages that overlap sets the rate") {
  const TimedPipeline with_slow_input(10, 2);
  const PipelineModel slow_input = with_slow_input.model();
  CHECK(is_nearly(slow_input.now.steps_per_s, 100));
  CHECK(slow_input.now.limited_by.resource == Resource::thread);
  CHECK(slow_input.now.limited_by.stage == 2);
  CHECK(slow_input.now.input_share > 0.7);
  const TimedPipeline with_slow_consumer(2, 10);
  const PipelineModel slow_consumer = with_slow_consumer.model();
  CHECK(is_nearly(slow_consumer.now.steps_per_s, 100));
  CHECK(slow_consumer.now.limited_by.resource == Resource::consumer);
  CHECK(slow_consumer.now.input_share < 0.05);
}

TEST_CASE("a fix is an edit of the pipeline") {
  const TimedPipeline pipeline(10, 4);
  const PipelineModel model = pipeline.model();
  const IteratorId map{2};
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, map, 2)), 200));
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, map)), 260));  // the consumer, without 0.3 ms of tracing
  CHECK(is_nearly(rate_with(model, fix(FixKind::cache, map)), 260));
  CHECK(is_nearly(rate_with(model, fix(FixKind::none)), model.now.steps_per_s));
  CHECK(rate_with(model, fix(FixKind::threadpool, kNoIterator, 64)) == model.now.steps_per_s);
}

TEST_CASE("one core does the work of one core") {
  TimedPipeline pipeline(10, 2);
  pipeline.host().cycles.cores = 1;
  const PipelineModel model = pipeline.model();
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, IteratorId{2}, 4)), 100));
}

TEST_CASE("Python that holds its lock gains nothing from more threads") {
  TimedPipeline pipeline(10, 2);
  CycleSample& sample = pipeline.host().cycles;
  sample.stages[2].python = 1e5;
  for (CycleItem& item : sample.items) {
    if (item.kind != CycleItem::Kind::work) continue;
    item.kind = CycleItem::Kind::function;
    std::swap(item.cpu, item.wait);
  }
  const Fix parallel = fix(FixKind::parallel_map, IteratorId{2}, 4);
  sample.python_lock = PythonLock::held;
  CHECK(is_nearly(rate_with(pipeline.model(), parallel), 100));
  sample.python_lock = PythonLock::released;
  CHECK(rate_with(pipeline.model(), parallel) > 250);
  sample.python_lock = PythonLock::unknown;
  const PipelineModel model = pipeline.model();
  const Prediction unknown = predict(model, std::span(&parallel, 1));
  CHECK(unknown.condition == Condition::python_releases_lock);
  CHECK(unknown.low <= model.now.steps_per_s);
}

TEST_CASE("a model that does not reproduce the measured rate is not relied upon") {
  TimedPipeline pipeline(10, 2);
  CHECK(pipeline.model().is_reliable());
  pipeline.host().cycles.consumers.front().rate = 20;
  CHECK_FALSE(pipeline.model().is_reliable());
}

TEST_CASE("the stage that gains most without its work limits the throughput") {
  const TimedPipeline pipeline(10, 2);
  const PipelineModel model = pipeline.model();
  const std::vector<StageGain> stages = rank_stages(model, 5);
  REQUIRE(stages.size() == 1);
  CHECK(stages.front().stage == 2);
  CHECK(stages.front().gain(model) > 2);
}

TEST_CASE("nothing is made for an epoch before it begins") {
  TimedPipeline pipeline(10, 2);
  CycleSample& sample = pipeline.host().cycles;
  std::vector<ConsumerStep>& steps = sample.consumers.front().steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto start = static_cast<Picoseconds>(step) * 12 * kPicosecondsPerMillisecond;
    steps[step].call = {start, start + 10 * kPicosecondsPerMillisecond};
    sample.stages[1].cycles[step].start = start + 1;
  }
  steps[9].gap = steps[19].gap = 50'000;  // the iterator is made anew, and the first element begins after it
  steps[10].begins_iteration = true;
  const double epoch = 10 * 10 + 50;  // ms
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 10 * 1000 / epoch));
}

TEST_CASE("fixes are read as they are written") {
  TimedPipeline pipeline(10, 2);
  struct Row {
    std::string text;
    std::string said;  ///< as to_string() writes it, or a part of the error
  };
  for (const Row& row : std::vector<Row>{
           {"parallel_map", "parallel_map:Map"},
           {"parallel_map:Prefetch::Map,p=4", "parallel_map:Map,p=4"},
           {"parallel_map:Map,p=auto", "parallel_map:Map"},
           {"prefetch", "prefetch"},
           {"buffer:Prefetch,p=8", "buffer:Prefetch,p=8"},
           {"parallel_mop", "unknown kind of fix 'parallel_mop'"},
           {"parallel_map:Mop", "no iterator of this trace ends in 'Mop'"},
           {"parallel_map:Prefetch", "'Prefetch' cannot be changed by 'parallel_map'"},
           {"parallel_batch", "no iterator for 'parallel_batch'"},
           {"prefetch:Map", "'prefetch' takes no iterator"},
           {"parallel_map,p=0", "'0' is not a number from 1 to 100000"},
           {"parallel_map,q=2", "unknown setting 'q=2'"},
       }) {
    CAPTURE(row.text);
    const Result<Fix> read = parse_fix(row.text, pipeline.host());
    const std::string said = read ? to_string(*read, pipeline.host()) : read.error().what;
    CHECK(said == row.said);
  }
}

/// The recorded traces of the repository of which there is a model.
const std::vector<Analysis>& recorded() {
  static const std::vector<Analysis> kAnalyses = [] {
    std::vector<Analysis> analyses;
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(DOCTOR_SOURCE_DIR) / "testdata/traces")) {
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

TEST_CASE("twice the times are half the rate") {
  for (const double factor : {2.0, 4.0}) {
    const TimedPipeline once(10, 6);
    const TimedPipeline slowed(10 * factor, 6 * factor);
    CHECK(is_nearly(slowed.model().now.steps_per_s, once.model().now.steps_per_s / factor));
  }
}

}  // namespace
}  // namespace doctor::model_test
