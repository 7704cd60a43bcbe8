#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "built_paths.h"
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
  CHECK(is_nearly(rate_with(model, fix(FixKind::parallel_map, map)), 256));  // the consumer, without 0.1 ms of tracing
  CHECK(is_nearly(rate_with(model, fix(FixKind::cache, map)), 256));
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

/// Lets the map be a function of Python that waits: on a thread of the pool.
void make_function(CycleSample& sample) {
  for (CycleItem& item : sample.items) {
    if (item.kind != CycleItem::Kind::work) continue;
    item.kind = CycleItem::Kind::function;
    std::swap(item.cpu, item.wait);
  }
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
  pipeline.host().iterators[1].attributes = {{"parallelism", 2, ""}, {"autotune", {}, "false"}};
  CHECK(is_nearly(rate_with(pipeline.model(), fix(FixKind::threadpool, kNoIterator, 4)), 200));
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

TEST_CASE("a replay that is cut off goes through the sample first") {
  const TimedPipeline pipeline(10, 2);
  const Programs programs = compile(pipeline.model().host[0], pipeline.model().sample(), {}, true);
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

TEST_CASE("that a stage has no work is asked for, and no advice") {
  const TimedPipeline pipeline(10, 2);
  for (const Fix& candidate : candidate_fixes(pipeline.model())) CHECK(candidate.kind != FixKind::free);
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

/// Whether the programs of an edit, replayed, are no faster and no slower than the pipeline as it is.
void check_against_programs(const PipelineModel& model, const Edit& edit) {
  Programs programs = compile(*model.host, model.sample(), edit, /*is_traced=*/false);
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
