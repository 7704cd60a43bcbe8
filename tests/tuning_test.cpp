// Who chose the parallelism and the buffers of a pipeline, as its attributes tell.

#include "diagnose/tuning.h"

#include <doctest/doctest.h>

#include "diagnose/judgement.h"
#include "measured_pipeline.h"

namespace doctor::tuning_test {
namespace {

/// The only pipeline, as rules see it.
struct Ranked {
  explicit Ranked(const MeasuredPipeline& measured)
      : measurements(measured.measurements()),
        judgement(judge(measurements, ThresholdValues(judgement_thresholds(), {}))) {}

  RankedPipeline operator()() const { return view_of(measurements, judgement.pipelines[0]); }

  Measurements measurements;
  Judgement judgement;
};

TEST_CASE("who chose a value is known only where the trace says so") {
  IteratorMeasurement iterator;
  CHECK_FALSE(is_autotuned(iterator).has_value());
  iterator.attributes = {{"autotune", std::nullopt, "true"}};
  CHECK(is_autotuned(iterator) == true);
  iterator.attributes = {{"autotune", std::nullopt, "false"}};
  CHECK(is_autotuned(iterator) == false);
  iterator.attributes = {{"autotune", std::nullopt, "unavailable"}};
  CHECK_FALSE(is_autotuned(iterator).has_value());
  iterator.attributes = {{"autotune", 1, {}}};
  CHECK_FALSE(is_autotuned(iterator).has_value());
}

TEST_CASE("the stage whose parallelism counts is the culprit or the interleave around it") {
  struct Row {
    std::vector<std::string> chain;
    std::string culprit;
    std::string stage;  ///< empty: none
  };
  for (const Row& row : {
           Row{{"Root", "Prefetch", "ParallelMapV2", "TFRecord"}, "ParallelMapV2", "ParallelMapV2"},
           Row{{"Root", "Prefetch", "ParallelMapV2", "TFRecord"}, "TFRecord", ""},
           Row{{"Root", "Prefetch", "Map", "TFRecord"}, "Map", ""},
           Row{{"Root", "ParallelMapV2", "ParallelInterleaveV4", "TFRecord"}, "TFRecord", "ParallelInterleaveV4"},
           Row{{"Root", "ParallelMapV2", "ParallelInterleaveV4", "Map", "TFRecord"}, "Map", "ParallelInterleaveV4"},
           Row{{"Root", "Map", "Interleave", "TFRecord"}, "TFRecord", ""},
       }) {
    CAPTURE(row.culprit);
    MeasuredPipeline measured(row.chain);
    const Ranked ranked(measured.waits_for(row.culprit));
    const IteratorId expected = row.stage.empty() ? kNoIterator : measured.id_of(row.stage);
    CHECK(parallel_stage_of(ranked()) == expected);
  }
}

TEST_CASE("AUTOTUNE goes up to the pool, without one to the cores, and in an interleave to the cycle length") {
  MeasuredPipeline measured({"Root", "ParallelMapV2", "ParallelInterleaveV4", "TFRecord"});
  measured.waits_for("ParallelMapV2");
  const IteratorId map = measured.id_of("ParallelMapV2");
  const IteratorId interleave = measured.id_of("ParallelInterleaveV4");
  CHECK_FALSE(highest_parallelism(Ranked(measured)(), map).has_value());
  measured.uses_cores(1, 4);
  CHECK(highest_parallelism(Ranked(measured)(), map) == 4);
  measured.sets("Root", "threadpool_size", 16);
  CHECK(highest_parallelism(Ranked(measured)(), map) == 16);
  CHECK_FALSE(highest_parallelism(Ranked(measured)(), interleave).has_value());
  measured.sets("ParallelInterleaveV4", "cycle_length", 8);
  CHECK(highest_parallelism(Ranked(measured)(), interleave) == 8);
}

TEST_CASE("the time to make an element is a part of the time between two steady calls") {
  MeasuredPipeline measured = MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Range"}).waits_for("BatchV2");
  measured.makes_elements_in(0.5);
  CHECK(producer_share(Ranked(measured)()) == doctest::Approx(0.5));

  MeasuredPipeline warming_up = measured;  // the first call began long before the others
  warming_up.pipeline().calls.front().start -= kPicosecondsPerSecond;
  CHECK(producer_share(Ranked(warming_up)()) < 0.1);
  warming_up.pipeline().warmup_count = 1;
  CHECK(producer_share(Ranked(warming_up)()) == doctest::Approx(0.5));
  warming_up.pipeline().warmup_count = 9;
  CHECK_FALSE(producer_share(Ranked(warming_up)()).has_value());

  MeasuredPipeline unseen = measured;
  unseen["BatchV2"].calls = 0;
  CHECK_FALSE(producer_share(Ranked(unseen)()).has_value());
  MeasuredPipeline of_a_device = measured;
  of_a_device.pipeline().is_device = true;
  CHECK_FALSE(producer_share(Ranked(of_a_device)()).has_value());
  const MeasuredPipeline without = MeasuredPipeline({"Root", "BatchV2", "Range"}).waits_for("BatchV2");
  CHECK_FALSE(producer_share(Ranked(without)()).has_value());
}

TEST_CASE("megabytes are those of the iterator, the budget that of its root") {
  MeasuredPipeline measured({"Root", "Prefetch", "ShuffleV3", "Range"});
  const IteratorId shuffle = measured.id_of("ShuffleV3");
  CHECK_FALSE(buffered_megabytes(measured["ShuffleV3"]).has_value());
  CHECK_FALSE(ram_budget_megabytes(measured.host(), shuffle).has_value());
  measured.sets("ShuffleV3", "buffered_bytes_MB", 7).sets("Root", "ram_budget_megabytes", 0);
  CHECK(buffered_megabytes(measured["ShuffleV3"]) == 7);
  CHECK_FALSE(ram_budget_megabytes(measured.host(), shuffle).has_value());
  measured["Root"].attributes = {{"ram_budget_megabytes", 100, {}}};
  CHECK(ram_budget_megabytes(measured.host(), shuffle) == 100);
  measured["ShuffleV3"].attributes = {{"buffered_bytes_MB", -1, {}}};
  CHECK_FALSE(buffered_megabytes(measured["ShuffleV3"]).has_value());
}

}  // namespace
}  // namespace doctor::tuning_test
