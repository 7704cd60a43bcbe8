// What limits the culprit: told only where a trace can tell it.

#include <doctest/doctest.h>

#include <cmath>

#include "diagnose/judgement.h"
#include "diagnose/judgement_passes.h"
#include "measured_pipeline.h"
#include "words/doubt_words.h"

namespace doctor::limits_test {
namespace {

struct Row {
  std::string situation;
  MeasuredPipeline pipeline;
  Limit limit;
  std::string words;  ///< part of them
};

MeasuredPipeline waiting_for(const std::string& kind, double busy_cores) {
  return MeasuredPipeline({"Root", "Prefetch", kind, "Range"}).waits_for(kind).uses_cores(busy_cores, 4);
}

MeasuredPipeline with_parallelism(MeasuredPipeline pipeline, const std::string& kind, std::int64_t parallelism) {
  pipeline[kind].attributes = {{"parallelism", parallelism, {}}};
  return pipeline;
}

MeasuredPipeline beside_others(MeasuredPipeline pipeline, double cores) {
  pipeline.pipeline().cores_of_others = cores;
  return pipeline;
}

/// Threads of the function read files, as many at once on average; its only op in half of the waits is another one.
MeasuredPipeline reading_files(double threads) {
  MeasuredPipeline pipeline = waiting_for("ParallelMapV2", 4);
  pipeline.runs({{"ReadFile", 600}, {"DecodeJpeg", 400}});
  const std::vector<Interval>& calls = pipeline.pipeline().calls;
  const auto window = static_cast<double>(calls.back().end - calls.front().start);
  pipeline["ParallelMapV2"].function_ops = {{"ReadFile", std::llround(threads * window)}};
  return pipeline;
}

MeasuredPipeline without_budget(double busy_cores) {
  MeasuredPipeline pipeline = waiting_for("Map", busy_cores);
  pipeline.pipeline().cpu_budget.reset();
  return pipeline;
}

TEST_CASE("what limits the culprit") {
  const std::vector<FunctionOp> half_python = {{"EagerPyFunc", 500}, {"Mul", 500}};
  const std::vector<FunctionOp> hardly_python = {{"EagerPyFunc", 10}, {"Mul", 990}};
  const std::vector<Row> rows = {
      {"all cores busy", waiting_for("ParallelMapV2", 3.9), Limit::cores, "the 4 cores"},
      {"some cores busy", waiting_for("ParallelMapV2", 2.6), Limit::unknown, "neither idle nor used up"},
      {"a map", waiting_for("Map", 1), Limit::thread, "the one thread of Dataset.map, while cores are idle"},
      {"fused, parallelism 1", with_parallelism(waiting_for("MapAndBatch", 1), "MapAndBatch", 1), Limit::thread,
       "the one thread of"},
      {"a parallel map", with_parallelism(waiting_for("ParallelMapV2", 1), "ParallelMapV2", 2), Limit::calls,
       "the 2 parallel calls of"},
      {"a parallel map of unknown parallelism", waiting_for("ParallelMapV2", 1), Limit::calls, "the parallel calls of"},
      {"a source", waiting_for("TFRecord", 1), Limit::unknown,
       "does not distinguish waiting for storage from unpacking"},
      {"a source, all cores busy", waiting_for("TFRecord", 4), Limit::cores, "the 4 cores"},
      {"tf.data service", waiting_for("DataServiceV4", 1), Limit::outside, "where the elements come from"},
      {"half Python", waiting_for("Map", 1).runs(half_python), Limit::unknown, "Python takes 50% of the function"},
      {"hardly Python", waiting_for("Map", 1).runs(hardly_python), Limit::thread, "the one thread of"},
      {"files", waiting_for("Map", 1).runs({{"ReadFile", 600}, {"DecodeJpeg", 400}}), Limit::outside,
       "read or write them take 60%"},
      {"files, read while all cores compute", reading_files(0.1), Limit::cores, "the 4 cores"},
      {"files that keep threads waiting", reading_files(3), Limit::outside, "read or write them take 60%"},
      {"cores that others use", beside_others(waiting_for("ParallelMapV2", 1), 3), Limit::cores, "the 4 cores"},
      {"a core that another uses", beside_others(waiting_for("ParallelMapV2", 1), 1), Limit::calls, "parallel calls"},
      {"hardly files", waiting_for("Map", 1).runs({{"ReadFile", 400}, {"DecodeJpeg", 600}}), Limit::thread,
       "the one thread of"},
      {"cores unknown", without_budget(0.6), Limit::unknown, "does not say how many cores"},
      {"cores unknown, and not even one is busy", without_budget(0.1), Limit::thread, "the one thread of"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.situation);
    const Measurements measurements = row.pipeline.measurements();
    const Judgement judgement = judge(measurements, ThresholdValues(judgement_thresholds(), {}));
    const PipelineJudgement& judged = judgement.pipelines.at(0);
    CHECK(judged.limit.limit == row.limit);
    const std::string words = describe_limit(measurements.hosts[0], judged.limit);
    CHECK_MESSAGE(words.find(row.words) != std::string::npos, words);
  }
}

TEST_CASE("nothing limits what nobody waits for") {
  MeasuredPipeline pipeline = waiting_for("Map", 1);
  PipelineJudgement background;
  background.phase = Phase::background;
  background.culprit = pipeline.id_of("Map");
  const ThresholdValues thresholds(judgement_thresholds(), {});
  const JudgedLimit judged = limit_of({pipeline.host(), pipeline.pipeline(), thresholds}, background);
  CHECK(judged.limit == Limit::unknown);
  CHECK(describe_limit(pipeline.host(), judged).empty());
}

// One limit: where the model answers, nothing else does.

struct ModelRow {
  std::string situation;
  Bottleneck bottleneck;
  Limit limit;
  std::string words;
};

TEST_CASE("where a model reproduces the rate, it says what limits") {
  MeasuredPipeline pipeline = with_parallelism(waiting_for("ParallelMapV2", 3.9), "ParallelMapV2", 2);
  const auto map = static_cast<StageIndex>(index_of(pipeline.id_of("ParallelMapV2")));
  const auto range = static_cast<StageIndex>(index_of(pipeline.id_of("Range")));
  const std::vector<ModelRow> rows = {
      {"its calls, though all cores look busy", {Resource::calls, map, 2}, Limit::calls, "the 2 parallel calls of"},
      {"a stage that cannot be told apart", {Resource::thread, range, 1}, Limit::calls, "the 2 parallel calls of"},
      {"the pool", {Resource::pool, kNoStage, 2}, Limit::pool, "the pool of"},
      {"Python", {Resource::python, map, 1}, Limit::python_lock, "Python's lock"},
      {"cores that another stage uses most", {Resource::cores, range, 4}, Limit::cores, "the 4 cores"},
      {"the consumer: then the waits are those of single calls",
       {Resource::consumer, kNoStage, 1},
       Limit::cores,
       "the 4 cores"},
  };
  const ThresholdValues thresholds(judgement_thresholds(), {});
  for (const ModelRow& row : rows) {
    CAPTURE(row.situation);
    PipelineJudgement judgement;
    judgement.culprit = pipeline.id_of("ParallelMapV2");
    judgement.bottleneck = row.bottleneck;
    const JudgedLimit limit = limit_of({pipeline.host(), pipeline.pipeline(), thresholds}, judgement);
    CHECK(limit.limit == row.limit);
    const std::string words = describe_limit(pipeline.host(), limit);
    CHECK_MESSAGE(words.find(row.words) != std::string::npos, words);
    CHECK(words.find("Range") == std::string::npos);
  }
}

}  // namespace
}  // namespace doctor::limits_test
