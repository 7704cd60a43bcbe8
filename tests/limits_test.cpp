// What limits the culprit: told only where a trace can tell it.

#include "diagnose/limits.h"

#include <doctest/doctest.h>

#include "diagnose/judgement.h"
#include "measured_pipeline.h"

namespace doctor::limits_test {
namespace {

struct Row {
  std::string situation;
  MeasuredPipeline pipeline;
  Limit limit;
  std::string reason;  ///< part of it
};

MeasuredPipeline waiting_for(const std::string& kind, double busy_cores) {
  return MeasuredPipeline({"Root", "Prefetch", kind, "Range"}).waits_for(kind).uses_cores(busy_cores, 4);
}

MeasuredPipeline with_parallelism(MeasuredPipeline pipeline, const std::string& kind, std::int64_t parallelism) {
  pipeline[kind].attributes = {{"parallelism", parallelism, {}}};
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
      {"all cores busy", waiting_for("ParallelMapV2", 3.9), Limit::cpu, "the cores are the limit"},
      {"some cores busy", waiting_for("ParallelMapV2", 2.6), Limit::unknown, "neither idle nor used up"},
      {"a map", waiting_for("Map", 1), Limit::concurrency, "one element at a time while cores are idle"},
      {"fused, parallelism 1", with_parallelism(waiting_for("MapAndBatch", 1), "MapAndBatch", 1), Limit::concurrency,
       "one element at a time"},
      {"a parallel map", with_parallelism(waiting_for("ParallelMapV2", 1), "ParallelMapV2", 2), Limit::concurrency,
       "it works on 2 elements at once"},
      {"a parallel map of unknown parallelism", waiting_for("ParallelMapV2", 1), Limit::concurrency,
       "may not work on more elements"},
      {"a source", waiting_for("TFRecord", 1), Limit::unknown,
       "does not distinguish waiting for storage from unpacking"},
      {"a source, all cores busy", waiting_for("TFRecord", 4), Limit::cpu, "the cores are the limit"},
      {"tf.data service", waiting_for("DataServiceV4", 1), Limit::waiting, "its elements come from elsewhere"},
      {"half Python", waiting_for("Map", 1).runs(half_python), Limit::unknown, "Python takes 50 % of the function"},
      {"hardly Python", waiting_for("Map", 1).runs(hardly_python), Limit::concurrency, "one element at a time"},
      {"files", waiting_for("Map", 1).runs({{"ReadFile", 600}, {"DecodeJpeg", 400}}), Limit::waiting,
       "read or write files take 60 %"},
      {"hardly files", waiting_for("Map", 1).runs({{"ReadFile", 400}, {"DecodeJpeg", 600}}), Limit::concurrency,
       "one element at a time"},
      {"cores unknown", without_budget(0.6), Limit::unknown, "does not say how many cores"},
      {"cores unknown, and not even one is busy", without_budget(0.1), Limit::concurrency, "one element at a time"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.situation);
    const Measurements measurements = row.pipeline.measurements();
    const Judgement judgement = judge(measurements, ThresholdValues(judgement_thresholds(), {}));
    const PipelineJudgement& judged = judgement.pipelines.at(0);
    CHECK(judged.limited_by == row.limit);
    CHECK_MESSAGE(judged.limit_reason.find(row.reason) != std::string::npos, judged.limit_reason);
  }
}

TEST_CASE("nothing limits what nobody waits for") {
  MeasuredPipeline pipeline = waiting_for("Map", 1);
  PipelineJudgement background;
  background.phase = Phase::background;
  background.culprit = pipeline.id_of("Map");
  const JudgedLimit judged =
      limit_of(pipeline.host(), pipeline.pipeline(), background, ThresholdValues(judgement_thresholds(), {}));
  CHECK(judged.limit == Limit::unknown);
  CHECK(judged.reason.empty());
}

}  // namespace
}  // namespace doctor::limits_test
