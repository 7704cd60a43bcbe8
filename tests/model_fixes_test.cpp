// Each kind of fix as an edit of the replayed pipeline.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/candidates.h"
#include "model/prediction.h"
#include "model_rates.h"
#include "pipeline.h"
#include "timed_pipeline.h"

namespace doctor::model_test {
namespace {

TEST_CASE("a fix is an edit of the pipeline") {
  const TimedPipeline pipeline(10, 4);
  const PipelineModel model = pipeline.model();
  const IteratorId map{2};
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, map, 2)), 200));
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, map)), 256));  // the consumer, without 0.1 ms of tracing
  CHECK(is_nearly(rate_with(model, fix(FixKind::cache, map)), 256));
  CHECK(is_nearly(rate_with(model, fix(FixKind::none)), model.now.steps_per_s));
  CHECK(rate_with(model, fix(FixKind::threadpool, kNoIterator, 64)) == model.now.steps_per_s);
}

TEST_CASE("what is read from a full cache makes no iterators in a new epoch") {
  TimedPipeline pipeline(2, 1);
  std::vector<ConsumerStep>& steps = pipeline.host().cycles.consumers.front().steps;
  for (std::size_t step = 4; step < steps.size(); step += 5) {
    steps[step].gap = 51'000;
    steps[step].remaking = 50'000;
  }
  const Fix cache = fix(FixKind::cache, IteratorId{2});
  CHECK(rate_with(pipeline.model(), cache) > 700);  // with what takes 50 ms in every fifth step it would be 91
  for (ConsumerStep& step : steps) step.remaking = 0;
  CHECK(is_nearly(rate_with(pipeline.model(), cache), 91));
}

TEST_CASE("a parallel map computes the predicates of a filter one by one") {
  TimedPipeline pipeline(0.01, 0.5);
  pipeline.host().iterators[2].short_name = "Filter";
  // Calls that compute one predicate and calls that compute three, in turn.
  float predicates = 1;
  for (CycleItem& item : pipeline.host().cycles.items) {
    if (item.kind != CycleItem::Kind::work) continue;
    item.wait = 4'000 * std::exchange(predicates, 4 - predicates);
  }
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 125));
  CHECK(is_nearly(rate_with(pipeline.model(), fix(FixKind::parallel_filter, IteratorId{2}, 2)), 250));
}

TEST_CASE("a larger pool is what AUTOTUNE comes to") {
  TimedPipeline pipeline(0.01, 0.5);
  pipeline.host().iterators[1].short_name = "ParallelMapV2";
  pipeline.host().iterators[1].attributes = {{"parallelism", 2, ""}, {"autotune", {}, "true"}};
  pipeline.host().cycles.pool_threads = 2;
  pipeline.host().cycles.stages[1].functions.assign(20, {0, 10'000, 0, 0});
  const PipelineModel model = pipeline.model();
  CHECK(is_nearly(model.now.steps_per_s, 200));
  CHECK(is_nearly(rate_with(model, fix(FixKind::threadpool, kNoIterator, 4)), 400));
  CHECK(is_nearly(rate_with(model, fix(FixKind::threadpool, kNoIterator, 1)), 100));  // a smaller one loses
  pipeline.host().iterators[1].attributes = {{"parallelism", 2, ""}, {"autotune", {}, "false"}};
  CHECK(is_nearly(rate_with(pipeline.model(), fix(FixKind::threadpool, kNoIterator, 4)), 200));
}

TEST_CASE("a fused map that works on whole batches is called once for each, and Python takes as long as before") {
  TimedPipeline pipeline(0.01, 1);
  pipeline.host().iterators[1].short_name = "MapAndBatch";
  pipeline.host().iterators[1].attributes = {
      {"parallelism", 2, ""}, {"batch_size", 50, ""}, {"max_batch_results", 1, ""}};
  Stage& map = pipeline.host().cycles.stages[1];
  map.functions.assign(20, {400, 0, 0, 600});
  map.op_time = 20;
  const Fix vectorize = fix(FixKind::vectorize, IteratorId{1});
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 1000 / 25.0));
  // Two calls at once, of 20 + (400 + 600) / 50 us for each element, and what it takes to start them.
  CHECK(rate_with(pipeline.model(), vectorize) > 400);
  CHECK(rate_with(pipeline.model(), vectorize) < 1'000);
  map.functions.assign(20, {0, 1'000, 0, 0});
  map.op_time = 1'000;
  CHECK(is_nearly(rate_with(pipeline.model(), vectorize), pipeline.model().now.steps_per_s));
  pipeline.host().cycles.stages[2].parent = 1;
  const std::vector<Fix> candidates = candidate_fixes(pipeline.model());
  CHECK(std::count(candidates.begin(), candidates.end(), vectorize) == 1);
}

TEST_CASE("a loop over epochs may take all of them from one iterator") {
  TimedPipeline pipeline(10, 2);
  std::vector<ConsumerStep>& steps = pipeline.host().cycles.consumers.front().steps;
  const Fix once = fix(FixKind::iterate_once);
  const auto is_candidate = [&] {
    const std::vector<Fix> candidates = candidate_fixes(pipeline.model());
    return std::count(candidates.begin(), candidates.end(), once) == 1;
  };
  CHECK_FALSE(is_candidate());
  steps[5].begins_iteration = true;
  CHECK_FALSE(is_candidate());  // the end of one epoch is no loop over epochs
  steps[10].begins_iteration = true;
  CHECK(is_candidate());
  CHECK_FALSE(iterates_for_each_step(pipeline.host().cycles.consumers.front()));
  pipeline.host().iterators[2].short_name = "Shuffle";
  CHECK_FALSE(can_iterate_once(pipeline.host(), kNoIterator));
  CHECK_FALSE(is_candidate());  // its buffer is filled anew in each epoch, and how much of that falls away nobody knows
}

TEST_CASE("the iterations of one iterator end, as repeat() makes its inputs anew") {
  TimedPipeline pipeline(0.01, 0.01);
  HostMeasurement& host = pipeline.host();
  host.iterators[1].short_name = "ParallelMapV2";
  host.iterators[1].attributes = {{"parallelism", 4, ""}};
  host.cycles.stages[1].functions.assign(20, {0, 10'000, 0, 0});
  std::vector<ConsumerStep>& steps = host.cycles.consumers.front().steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto start = static_cast<Picoseconds>(step) * 10 * kPicosecondsPerMillisecond;
    steps[step].call = {start, start + 9 * kPicosecondsPerMillisecond};
    steps[step].begins_iteration = step > 0 && step % 2 == 0;
    host.cycles.stages[1].cycles[step].start = start + 1;
  }
  const PipelineModel model = pipeline.model();
  // Of two elements in an iteration no four are made at once.
  CHECK(is_nearly(rate_with(model, fix(FixKind::iterate_once)), 200));
  Edit endless;
  endless.iterates_once = true;
  CHECK(is_nearly(replay_after(model, endless).steps_per_s, 400));
}

TEST_CASE("while one iteration of a repeated dataset is taken, the next one begins") {
  TimedPipeline pipeline(1, 10);
  HostMeasurement& host = pipeline.host();
  std::vector<ConsumerStep>& steps = host.cycles.consumers.front().steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto start = static_cast<Picoseconds>(step) * 10 * kPicosecondsPerMillisecond;
    steps[step].call = {start, start + 1};
    steps[step].begins_iteration = step == 5 || step == 10 || step == 15;
    host.cycles.stages[1].cycles[step].start = start + 2;
  }
  int element = 0;
  for (CycleItem& item : host.cycles.items) {
    if (item.kind == CycleItem::Kind::work && element++ % 5 == 0) item.cpu = 15'000;  // opens a file
  }
  const PipelineModel model = pipeline.model();
  CHECK(model.now.steps_per_s < 85);
  CHECK(rate_with(model, fix(FixKind::iterate_once)) > 95);
}

TEST_CASE("elements that are thrown away need not be made") {
  TimedPipeline pipeline(10, 2);
  HostMeasurement& host = pipeline.host();
  host.iterators[1].calls = 5;
  host.iterators[1].short_name = "FiniteSkip";
  const PipelineModel model = pipeline.model();
  const Fix skip = fix(FixKind::skip_first, IteratorId{1});
  CHECK(edit_for(std::span(&skip, 1), model).work_factor == std::map<StageIndex, double>{{2, 0.25}});
  host.iterators[1].short_name = "Filter";
  const Fix behind = fix(FixKind::map_after, IteratorId{2});
  CHECK(edit_for(std::span(&behind, 1), model).work_factor == std::map<StageIndex, double>{{2, 0.25}});
  CHECK(predict(model, std::span(&behind, 1)).condition == Condition::does_not_need_map);
  CHECK(predict(model, std::span(&skip, 1)).condition == Condition::none);
}

TEST_CASE("the pipeline makes the elements that a skip throws away") {
  TimedPipeline pipeline(10, 2);
  HostMeasurement& host = pipeline.host();
  host.iterators[0].short_name = "FiniteSkip";
  std::vector<CycleItem>& items = host.cycles.items;
  std::vector<ConsumerStep>& steps = host.cycles.consumers.front().steps;
  steps.resize(10);  // of 20 elements that were made; the first call takes two: what it throws away, and its own
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto first = static_cast<std::uint32_t>(items.size());
    items.push_back({CycleItem::Kind::enter, 0, 0, 0, 0, 1});
    items.insert(items.end(), step == 0 ? 2 : 1, {CycleItem::Kind::pull, 1, 0, 0, 0, 1});
    items.push_back({CycleItem::Kind::leave, 0, 0, 0, 0, 1});
    steps[step].cycle = {0, first, static_cast<std::uint32_t>(items.size())};
  }
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 1000 * 10 / (20 * 10.0)));
  host.iterators[0].short_name = "Root";
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 1000 * 10 / (11 * 10.0)));
}

TEST_CASE("of work that is done in no time the calls remain, and those of functions take longer") {
  const auto rate_without_work = [](CycleItem::Kind kind) {
    TimedPipeline pipeline(10, 0.1);
    CycleSample& sample = pipeline.host().cycles;
    for (Cycle& cycle : sample.stages[1].cycles) {
      const auto first = static_cast<std::uint32_t>(sample.items.size());
      sample.items.insert(sample.items.end(), 100, {kind, 2, 100, 0, 0, 1});
      cycle = {0, first, static_cast<std::uint32_t>(sample.items.size())};
    }
    Edit edit;
    edit.free = {2};
    return replay_after(pipeline.model(), edit).steps_per_s;
  };
  CHECK(is_nearly(rate_without_work(CycleItem::Kind::function), 1e6 / (100 * 10)));  // 10 us each
  CHECK(rate_without_work(CycleItem::Kind::work) > 5'000);
}

TEST_CASE("a predicate, and what a generator makes, can be made in parallel") {
  TimedPipeline pipeline(10, 2);
  pipeline.host().iterators[2].short_name = "Filter";
  CHECK(rate_with(pipeline.model(), fix(FixKind::parallel_filter, IteratorId{2}, 4)) > 250);
  pipeline.host().iterators[2].short_name = "Generator";
  make_function(pipeline.host().cycles);
  const Fix files = fix(FixKind::files, IteratorId{2});
  const Prediction prediction = predict(pipeline.model(), std::span(&files, 1));
  CHECK(prediction.estimate > 250);
  CHECK(prediction.condition == Condition::comes_from_files);
  CHECK_FALSE(prediction.cache.has_value());
}

TEST_CASE("a cache says whether an epoch ended and how large it is") {
  TimedPipeline pipeline(10, 2);
  const Fix split = fix(FixKind::split_cache, IteratorId{2});
  const Fix cache = fix(FixKind::cache, IteratorId{2});
  const PipelineModel model = pipeline.model();
  const Prediction part = predict(model, std::span(&split, 1));
  CHECK(is_nearly(part.estimate, 200));
  CHECK(part.low < model.now.steps_per_s);
  CHECK(part.high > 250);
  REQUIRE(part.cache.has_value());
  CHECK_FALSE(part.cache->saw_epoch_end);
  pipeline.host().iterators[2].epochs = 2;
  pipeline.host().iterators[2].attributes = {{"buffered_bytes_MB", 6, ""}, {"buffered_elements", 3, ""}};
  const Prediction whole = predict(model, std::span(&cache, 1));
  REQUIRE(whole.cache.has_value());
  CHECK(whole.cache->saw_epoch_end);
  CHECK(whole.cache->megabytes == 20);  // 10 elements of 2 MB an epoch
}

TEST_CASE("that a stage has no work is asked for, and no advice") {
  const TimedPipeline pipeline(10, 2);
  for (const Fix& candidate : candidate_fixes(pipeline.model())) CHECK(candidate.kind != FixKind::free);
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
           {"none", "none"},
           {"free:Map", "free:Map"},
           {"free:Prefetch", "free:Prefetch"},
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

TEST_CASE("an interleave is meant, not the flat_map that a generator below it has in it") {
  TimedPipeline pipeline(10, 2);
  std::vector<IteratorMeasurement>& iterators = pipeline.host().iterators;
  iterators[1].short_name = iterators[1].long_name = "Interleave";
  iterators[2].short_name = "FlatMap";
  iterators[2].long_name = "Interleave::FlatMap";
  iterators[1].calls = 20;
  iterators[2].calls = 30;
  const Result<Fix> read = parse_fix("parallel_interleave", pipeline.host());
  REQUIRE(read.has_value());
  CHECK(read->iterator == IteratorId{1});
  const Result<Fix> named = parse_fix("parallel_interleave:FlatMap", pipeline.host());
  REQUIRE(named.has_value());
  CHECK(named->iterator == IteratorId{2});
}

}  // namespace
}  // namespace doctor::model_test
