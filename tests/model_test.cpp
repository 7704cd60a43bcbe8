#include <doctest/doctest.h>

#include <span>
#include <utility>
#include <vector>

#include "model/candidates.h"
#include "model/prediction.h"
#include "model_rates.h"
#include "pipeline.h"
#include "timed_pipeline.h"

namespace doctor::model_test {
namespace {

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

TEST_CASE("no input makes a device faster, whoever takes the elements") {
  TimedPipeline pipeline(10, 2);
  ConsumerCycles& consumer = pipeline.host().cycles.consumers.front();
  consumer.device_step = 4'000;
  consumer.computing = 3'600;
  const PipelineModel model = pipeline.model();
  CHECK(is_nearly(model.now.steps_per_s, 100));
  const Prediction without_input = predict_without_input(model);
  CHECK(is_nearly(without_input.estimate, 250));
  CHECK(without_input.high > 250);
  CHECK(without_input.high < 278);
  CHECK(without_input.input_share == 0);
  const Fix parallel_map{FixKind::parallel_map, IteratorId{2}, 16, {}};
  CHECK(predict(model, std::span(&parallel_map, 1)).high < 278);
  Edit free;
  free.free.insert(2);
  CHECK(is_nearly(replay_after(model, free).steps_per_s, 250));
  free.consumer_factor = 2;
  CHECK(replay_after(model, free).steps_per_s > 450);
}

TEST_CASE("launching is shorter where nothing is recorded, and a host may work while its device does") {
  TimedPipeline pipeline(20, 10);
  ConsumerCycles& consumer = pipeline.host().cycles.consumers.front();
  consumer.device_step = 6'000;
  consumer.computing = 4'000;
  for (ConsumerStep& step : consumer.steps) {
    step.device = 6'000;
    step.launching = 3'000;
  }
  const Prediction ceiling = predict_without_input(pipeline.model());
  // Without 0.1 ms of tracing and 0.15 ms of calling GetNext, and 20 us for the ready element.
  CHECK(is_nearly(ceiling.estimate, 1e6 / 6'770));
  CHECK(ceiling.low < 1e6 / 9'750);
  CHECK(ceiling.high > 1e6 / 6'000);
  CHECK(ceiling.high < 1e6 / 4'000);
}

TEST_CASE("a sample of steps much slower than the whole window tells no gains") {
  TimedPipeline pipeline(10, 2);
  PipelineMeasurement& measured = pipeline.host().pipelines.emplace_back();
  measured.root = IteratorId{0};
  const auto set_period = [&](Picoseconds milliseconds) {
    measured.calls.clear();
    for (Picoseconds start = 0; start < 20 * milliseconds; start += milliseconds) {
      measured.calls.push_back({start * kPicosecondsPerMillisecond, (start + 1) * kPicosecondsPerMillisecond});
    }
  };
  set_period(10);
  CHECK(pipeline.model().tells_gains());
  set_period(4);
  CHECK_FALSE(pipeline.model().tells_gains());
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

TEST_CASE("that a generator lets go of Python's lock is a condition, not a fact") {
  TimedPipeline pipeline(10, 2);
  pipeline.host().cycles.stages[2].python = 1e5;
  pipeline.host().cycles.python_lock = PythonLock::released;
  const Fix interleave = fix(FixKind::parallel_interleave, IteratorId{2}, 4);
  const auto condition = [&] {
    const PipelineModel model = pipeline.model();
    return predict(model, std::span(&interleave, 1)).condition;
  };
  CHECK(condition() == Condition::none);
  IteratorMeasurement generator;
  generator.short_name = "Generator";
  generator.parent = IteratorId{2};
  pipeline.host().iterators.push_back(generator);
  pipeline.host().iterators[2].children.push_back(static_cast<IteratorId>(pipeline.host().iterators.size() - 1));
  pipeline.host().cycles.stages.emplace_back().python = 1e5;
  CHECK(condition() == Condition::python_releases_lock);
}

TEST_CASE("a model that does not reproduce the measured rate is not relied upon") {
  TimedPipeline pipeline(10, 2);
  CHECK(pipeline.model().is_reliable());
  pipeline.host().cycles.consumers.front().rate = 20;
  CHECK_FALSE(pipeline.model().is_reliable());
}

TEST_CASE("functions below an interleave run on the threads of the pool") {
  TimedPipeline pipeline(10, 0.5);
  pipeline.host().cycles.pool_threads = 2;
  Edit edit;
  edit.cuts[2] = {Cut::Kind::interleave, 8, 8};
  for (CycleItem& item : pipeline.host().cycles.items) std::swap(item.cpu, item.wait);
  CHECK(replay_after(pipeline.model(), edit).steps_per_s > 700);  // what waits by itself needs none of them
  for (CycleItem& item : pipeline.host().cycles.items) std::swap(item.cpu, item.wait);
  make_function(pipeline.host().cycles);
  const PipelineModel model = pipeline.model();
  const Replay two_threads = replay_after(model, edit);
  CHECK(two_threads.steps_per_s > 190);
  CHECK(two_threads.steps_per_s < 240);  // elements that are made ahead of their turn are ready in bursts
  CHECK(two_threads.limited_by.resource == Resource::pool);
  edit.pool_threads = 8;
  CHECK(replay_after(model, edit).steps_per_s > 700);
}

TEST_CASE("the call of a function takes its time without a thread") {
  TimedPipeline pipeline(0.01, 0.5);
  pipeline.host().iterators[1].short_name = "ParallelMapV2";
  pipeline.host().iterators[1].attributes = {{"parallelism", 2, ""}};
  pipeline.host().cycles.stages[1].functions.assign(20, {0, 6'000, 0, 4'000});
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 200));
}

TEST_CASE("a fused map and batch gives whole batches, and makes room for more while somebody waits") {
  TimedPipeline pipeline(0.01, 1);
  pipeline.host().iterators[1].short_name = "MapAndBatch";
  pipeline.host().iterators[1].attributes = {
      {"parallelism", 2, ""}, {"batch_size", 4, ""}, {"max_batch_results", 1, ""}};
  pipeline.host().cycles.stages[1].functions.assign(20, {0, 10'000, 0, 0});
  CHECK(is_nearly(pipeline.model().now.steps_per_s, 1000 / 20.0));
}

TEST_CASE("rates are compared of the same steps, however far a replay would get") {
  TimedPipeline pipeline(10, 1);
  std::vector<ConsumerStep>& steps = pipeline.host().cycles.consumers.front().steps;
  for (std::size_t step = 16; step < steps.size(); ++step) steps[step].gap = 50'000;
  // Ready elements take fewer events of a replay, which would get to the long steps.
  const ReplayLimits limits{.events = 60, .events_for_sample = 60};
  const PipelineModel model = model_of(pipeline.host(), limits);
  CHECK(model.now.end_step < 16);
  CHECK(predict_without_input(model, limits).estimate > 5 * model.now.steps_per_s);
}

TEST_CASE("of a pipeline with very many elements in a step the replay has some steps all the same") {
  TimedPipeline pipeline(0.01, 1);
  pipeline.host().iterators[1].short_name = "MapAndBatch";
  pipeline.host().iterators[1].attributes = {{"parallelism", 2, ""}, {"batch_size", 400, ""}};
  pipeline.host().cycles.stages[1].functions.assign(400, {10, 0, 0, 0});
  const Replay few = model_of(pipeline.host(), {.events = 100, .events_for_sample = 1'000}).now;
  CHECK(few.steps_per_s > 0);
  CHECK(few.events < 20'000);
}

TEST_CASE("a loop inside of a function takes the next element while its step goes on") {
  TimedPipeline pipeline(2, 0.8);
  ConsumerCycles& consumer = pipeline.host().cycles.consumers.front();
  consumer.overlaps = true;
  for (ConsumerStep& step : consumer.steps) {
    step.root = IteratorId{0};
    step.beside = 8'000;
    pipeline.host().cycles.items[step.cycle.first] = {CycleItem::Kind::work, 2, 6'000, 0, 0, 1};  // in GetNext itself
  }
  const PipelineModel model = pipeline.model();
  CHECK(is_nearly(model.now.steps_per_s, 1000 / 8.5));
  CHECK(is_nearly(predict_without_input(model).estimate, 1000 / 8.5));
}

TEST_CASE("a window that ends within an epoch has a rate of its own") {
  TimedPipeline pipeline(10, 2);
  CycleSample& sample = pipeline.host().cycles;
  ConsumerCycles& consumer = sample.consumers.front();
  for (std::size_t step = 0; step < consumer.steps.size(); ++step) {
    const auto start = static_cast<Picoseconds>(step) * 12 * kPicosecondsPerMillisecond;
    consumer.steps[step].call = {start, start + 8 * kPicosecondsPerMillisecond};
    consumer.waited += 8 * kPicosecondsPerMillisecond;
    sample.stages[1].cycles[step].start = start + 1;
  }
  consumer.steps[9].gap = consumer.steps[19].gap = 50'000;
  consumer.steps[10].begins_iteration = true;
  consumer.rate = 90;  // the window ends before the last pause
  CHECK(is_nearly(pipeline.model().fit, 1));
}

TEST_CASE("recording a short step takes a good part of it") {
  CHECK(tracing_slowdown(TimedPipeline(0.05, 0.4).model()) > kDistortion);
  CHECK(tracing_slowdown(TimedPipeline(0.1, 100).model()) < 1.05);
}

TEST_CASE("a replay that is cut off goes through the sample first") {
  const TimedPipeline pipeline(10, 2);
  const PipelineModel model = pipeline.model();
  const Programs programs = compile(*model.host, model.facts, {}, true);
  CHECK(replay(programs, {.events = 60, .events_for_sample = 60}).end_step < 20);
  const Replay whole = replay(programs, {.events = 60, .events_for_sample = 10'000});
  CHECK(whole.end_step > 20);
  CHECK(whole.events < 10'000);
}

TEST_CASE("the stage that gains most without its work limits the throughput") {
  const TimedPipeline pipeline(10, 2);
  const PipelineModel model = pipeline.model();
  const std::vector<StageGain> stages = rank_stages(model, 5);
  REQUIRE(stages.size() == 1);
  CHECK(stages.front().stage == 2);
  CHECK(stages.front().gain(model) > 2);
  const double free = rate_with(model, fix(FixKind::free, IteratorId{2}));
  CHECK(free == stages.front().steps_per_s);
  CHECK(is_nearly(free, 526));  // the consumer, without 0.1 ms of tracing
  CHECK(rate_with(model, fix(FixKind::parallel_map, IteratorId{2}, 4)) < free);
}

TEST_CASE("the less the input does, the less it keeps the consumer from its core") {
  TimedPipeline pipeline(10, 4);
  for (ConsumerStep& step : pipeline.host().cycles.consumers.front().steps) step.late = 2'000;
  const PipelineModel model = pipeline.model();
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, IteratorId{2}, 4)), 1000 / 3.9));
  CHECK(is_nearly(rate_with(model, fix(FixKind::free, IteratorId{2})), 1000 / 1.9));
  CHECK(is_nearly(predict_without_input(model).estimate, 1000 / 1.77));
}

TEST_CASE("who makes room wakes the thread that waits for it") {
  // 0.3 ms between the calls, 4 us for the element, and 20 to wake the prefetch, whose buffer is always full.
  const double rate = TimedPipeline(0.01, 0.4).model().now.steps_per_s;
  CHECK(rate > 1e6 / 330);
  CHECK(rate < 1e6 / 318);
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

}  // namespace
}  // namespace doctor::model_test
