#include "measure/measure.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/intervals.h"
#include "diagnose/judgement.h"
#include "measure/measure_passes.h"
#include "measure/measurements.h"
#include "measure/waits/busy_threads.h"
#include "synthetic_trace.h"
#include "tree/dataset_kinds.h"
#include "tree/iterator_forest.h"

namespace doctor::measure_test {
namespace {

constexpr Picoseconds kMs = kPicosecondsPerMillisecond;

/// Sets ids, function op and own names of a small pipeline: Root > Prefetch > Map(f) > Range, `calls` times.
SyntheticTrace prefetch_map(int calls, double map_us, double step_us) {
  SyntheticTrace trace;
  for (int call = 0; call < calls; ++call) {
    const double start = 1000 + call * step_us;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, map_us + 10);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, map_us + 8).numbers["cpu_budget"] = 2;
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, start + 2, map_us + 6);
    trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, start + 3, map_us);
    trace.iterator("worker", "Iterator::Root::Prefetch::Map::Range", 4, 3, start + 3, 1);
    trace.add("worker", "InstantiatedCapturedFunction::Run", start + 5, map_us - 4).ids["id"] =
        static_cast<std::uint64_t>(call) + 1;
    trace.add("pool", "ExecutorState::Process", start + 6, map_us - 6).ids["id"] = static_cast<std::uint64_t>(call) + 1;
    trace.add("pool", "f/MatMul:MatMul", start + 7, map_us - 8);
  }
  return trace;
}

}  // namespace

TEST_CASE("below a fused shuffle and repeat an epoch begins where files are opened from the first on") {
  const auto epochs = [](const std::vector<int>& files, std::string_view iterator) {
    SyntheticTrace trace;
    const std::string shuffle = "Iterator::Root::ShuffleAndRepeat";
    double start = 1000;
    for (const int file : files) {
      const auto id = static_cast<std::uint64_t>(file) + 10;
      trace.add("main", "IteratorGetNextOp::DoCompute", start, 90);
      trace.iterator("main", "Iterator::Root", 1, 0, start + 1, 80);
      trace.iterator("main", shuffle, 2, 1, start + 2, 70);
      trace.iterator("main", shuffle + "::FlatMap", 3, 2, start + 3, 60);
      trace.iterator("main", shuffle + fmt::format("::FlatMap[{}]::TFRecord", file), id, 3, start + 4, 50);
      start += 100;
    }
    const Trace read = trace.to_trace();
    const HostMeasurement measured = measure(read, build_tree(read));
    const auto found = std::find_if(measured.iterators.begin(), measured.iterators.end(),
                                    [&](const IteratorMeasurement& one) { return one.short_name == iterator; });
    REQUIRE(found != measured.iterators.end());
    return found->epochs;
  };
  CHECK(epochs({2, 2, 3}, "TFRecord") == 1);
  CHECK(epochs({2, 3, 0, 1}, "TFRecord") == 2);
  CHECK(epochs({2, 3, 0, 1}, "ShuffleAndRepeat") == 0);
}

TEST_CASE("warm-up is up to three slow calls at the start") {
  struct Row {
    std::vector<Picoseconds> latencies;
    bool starts_in_window;
    std::size_t expected;
  };
  for (const Row& row : {
           Row{{}, true, 0},
           Row{{9 * kMs}, true, 0},
           Row{{90 * kMs, kMs}, true, 1},
           Row{{90 * kMs, kMs}, false, 0},
           Row{{90 * kMs, kMs, kMs, kMs}, false, 1},
           Row{{90 * kMs, 80 * kMs, 70 * kMs, 60 * kMs, kMs, kMs, kMs, kMs, kMs}, false, 3},
           Row{{4 * kMs, kMs, kMs, kMs}, false, 0},
           Row{{kMs - 1, 1, 1, 1}, false, 0},
           Row{{kMs, 90 * kMs, kMs, kMs}, false, 0},
           // Calls as long come again: the job stalls.
           Row{{90 * kMs, 1, 1, 1, 90 * kMs, 1, 1, 1, 50 * kMs, 1, 1, 1, 90 * kMs, 1}, true, 0},
           Row{{90 * kMs, 1, 1, 1, 90 * kMs, 1, 1, 1, 40 * kMs, 1, 1, 1, 90 * kMs, 1}, true, 1},
       }) {
    CHECK(count_warmup_calls(row.latencies, row.starts_in_window) == row.expected);
  }
}

TEST_CASE("the slow function of a sequential map is found with its ops and share") {
  const SyntheticTrace written = prefetch_map(10, 800, 1000);
  const Trace trace = written.to_trace();
  const HostMeasurement measured = measure(trace, build_tree(trace));
  CHECK(measured.unattributed == 0);
  REQUIRE(measured.pipelines.size() == 1);
  const PipelineMeasurement& pipeline = measured.pipelines[0];
  CHECK(pipeline.calls.size() == 10);
  CHECK(pipeline.warmup_count == 0);
  CHECK(pipeline.median == 810 * kPicosecondsPerMicrosecond);
  CHECK(pipeline.input_share() == doctest::Approx(0.81));
  REQUIRE(pipeline.steady.culprit != kNoIterator);
  CHECK(measured.iterators[pipeline.steady.culprit].short_name == "Map");
  REQUIRE(pipeline.steady.function_ops.size() == 1);
  CHECK(pipeline.steady.function_ops[0].op == "MatMul");
  CHECK(pipeline.steady.function_ops[0].self == 7920 * kPicosecondsPerMicrosecond);
  CHECK(pipeline.cpu_budget == 2);
  CHECK(measured.iterators[pipeline.prefetch].short_name == "Prefetch");
  CHECK(pipeline.steady.busy_threads == doctest::Approx(792.0 / 810 + 11.0 / 810).epsilon(0.02));
}

TEST_CASE("threads that were seen are no number of cores") {
  const auto measured = [](bool says_budget) {
    SyntheticTrace written = prefetch_map(10, 800, 1000);
    for (SyntheticTrace::Event& event : written.events) {
      if (!says_budget) event.numbers.erase("cpu_budget");
    }
    for (const char* const thread : {"tf_Compute/-1148285638", "tf_Compute/7", "tf_Compute/12", "tf_numa_-1_Eigen/3"}) {
      written.add(thread, "f/Cast:Cast", 500, 1);
    }
    const Trace trace = written.to_trace();
    return measure(trace, build_tree(trace));
  };
  CHECK(measured(true).pipelines[0].cpu_budget == 2);
  CHECK(measured(true).cycles.knows_cores);
  const HostMeasurement unknown = measured(false);
  CHECK_FALSE(unknown.pipelines[0].cpu_budget);
  CHECK(unknown.compute_threads == 3);
  CHECK_FALSE(unknown.cycles.knows_cores);
  CHECK(unknown.cycles.cores == 3);
  CHECK_FALSE(unknown.cycles.cores_are_full());
}

TEST_CASE("threads of the compute pool count as busy, and apart where no op of their own runs") {
  const auto measured = [](bool has_own_op) {
    SyntheticTrace written = prefetch_map(10, 800, 1000);
    for (int call = 0; call < 10; ++call) {
      const double start = 1000 + call * 1000;
      written.add("tf_numa_-1_Eigen/7", "ThreadpoolListener::StartRegion", start + 100, 0.1);
      if (has_own_op) written.add("tf_numa_-1_Eigen/7", "f/Cast:Cast", start + 200, 100);
      written.add("tf_numa_-1_Eigen/7", "ThreadpoolListener::StopRegion", start + 505, 0.1);
    }
    const Trace trace = written.to_trace();
    return measure(trace, build_tree(trace)).pipelines.at(0).steady;
  };
  CHECK(measured(false).pool_threads == doctest::Approx(405.0 / 810));
  CHECK(measured(true).pool_threads == doctest::Approx(305.0 / 810));
  CHECK(measured(false).busy_threads == doctest::Approx(measured(true).busy_threads));
  CHECK(measured(false).busy_threads == doctest::Approx((792.0 + 11 + 405) / 810).epsilon(0.02));
}

TEST_CASE("closures that wait for a thread are counted on average, those of the compute pool left out") {
  const auto measured = [](const std::string& pool, bool has_ids) {
    SyntheticTrace written = prefetch_map(10, 800, 1000);
    for (std::uint64_t call = 0; call < 10; ++call) {
      const double start = 1000 + static_cast<double>(call) * 1000;
      for (const std::uint64_t closure :
           {std::uint64_t{1}, std::uint64_t{2}}) {  // the second waits beyond the end of the call
        auto& queued = written.add("python", "ThreadpoolListener::Record", start + 100, 0);
        auto& region = written.add(pool, "ThreadpoolListener::StartRegion", start + (closure == 1 ? 505 : 900), 0);
        written.add(pool, "ThreadpoolListener::StopRegion", start + (closure == 1 ? 600 : 950), 0);
        if (has_ids) queued.ids["_p"] = region.ids["_c"] = 2 * call + closure;
      }
    }
    std::stable_sort(written.events.begin(), written.events.end(),
                     [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
    const auto queued_in = [](const Result<Trace>& trace) {
      return measure(*trace, build_tree(*trace)).pipelines.at(0).steady.queued_closures;
    };
    const auto queued = queued_in(SyntheticTrace::read(written.to_xspace()));
    CHECK(queued_in(SyntheticTrace::read(written.to_chrome_json())) == queued);
    return queued;
  };
  CHECK(measured("tf_Compute/7", true).value() == doctest::Approx((405.0 + 710) / 810));
  CHECK(measured("tf_numa_-1_Eigen/7", true).value() == 0);
  CHECK(!measured("tf_Compute/7", false));
}

TEST_CASE("a closure of a sample stands for all that were left out") {
  Trace trace;
  trace.lanes.emplace_back();
  trace.queue = {4, {{{0, 15}, LaneId{0}}, {{5, 45}, LaneId{0}}}};
  IteratorForest forest;
  const std::vector<Interval> waits = {{10, 20}, {40, 50}};
  for (const Interval wait : waits) forest.root_calls.push_back({wait, kNoIterator, LaneId{0}, {}});
  const ThreadActivity activity(trace, forest, {});
  CHECK(activity.queued_closures_during(waits).value() == doctest::Approx(4 * (5.0 + 10 + 5) / 20));
  CHECK(activity.queued_closures_during(std::span(waits).first(1)).value() == doctest::Approx(4 * (5.0 + 10) / 10));
  CHECK(!activity.queued_closures_during({}));
}

TEST_CASE("what threads do counts where calls are waited for, and a moment of a thread once") {
  Trace trace;
  trace.lanes.resize(2);
  const auto at = [](Picoseconds start, Picoseconds end) { return PackedSpan(start, end - start); };
  // One thread in ops that overlap, one that does a part of another's op in its pool.
  for (const PackedSpan span : {at(0, 12), at(5, 18), at(30, 60)})
    trace.lanes[0].ops.push_back({span, {}, StringId{0}});
  trace.lanes[1].pool_regions.push_back(at(15, 45));
  trace.lanes[1].ops.push_back({at(42, 44), {}, StringId{0}});
  IteratorForest forest;
  const std::vector<Interval> waits = {{10, 20}, {40, 50}};
  for (const Interval wait : {waits[0], Interval{25, 35}, waits[1]}) {
    forest.root_calls.push_back({wait, kNoIterator, LaneId{0}, {}});
  }
  const ThreadActivity activity(trace, forest, {OpKind::ordinary});
  CHECK(activity.during(waits).all == doctest::Approx((8.0 + 10 + 5 + 5) / 20));
  CHECK(activity.during(waits).in_pool_only == doctest::Approx((5.0 + 3) / 20));
  CHECK(activity.during({}).all == 0);
  CHECK_FALSE(activity.queued_closures_during(waits).has_value());
}

TEST_CASE("a culprit that shows only after the first calls is measured over all calls") {
  // Two maps: the outer one's function is slow in the first 8 of 64 calls, the inner one's in the others.
  SyntheticTrace written;
  for (int call = 0; call < 64; ++call) {
    const double start = 1000 * (call + 1);
    const double inner_us = call < 8 ? 100 : 700;
    const auto function = static_cast<std::uint64_t>(call) * 2 + 1;
    written.iterator("main", "Iterator::Root", 1, 0, start, 900);
    written.iterator("main", "Iterator::Root::Map", 2, 1, start, 900);
    written.iterator("main", "Iterator::Root::Map::Map", 3, 2, start, inner_us + 10);
    written.add("main", "InstantiatedCapturedFunction::Run", start + 1, inner_us).ids["id"] = function;
    written.add("main", "InstantiatedCapturedFunction::Run", start + 20 + inner_us, 800 - inner_us).ids["id"] =
        function + 1;
    for (const std::uint64_t id : {function, function + 1}) {
      const double begin = id == function ? start + 2 : start + 21 + inner_us;
      written.add("pool", "ExecutorState::Process", begin, 50).ids["id"] = id;
      written.add("pool", id == function ? "f/MatMul:MatMul" : "f/Cast:Cast", begin + 1, 10);
    }
  }
  const Trace trace = written.to_trace();
  const HostMeasurement measured = measure(trace, build_tree(trace));
  const PhaseMeasurement& steady = measured.pipelines.at(0).steady;
  CHECK(steady.call_count == 64);
  CHECK(measured.iterators[steady.culprit].long_name == "Iterator::Root::Map::Map");
  REQUIRE(steady.function_ops.size() == 1);
  CHECK(steady.function_ops[0].op == "MatMul");
  CHECK(steady.function_ops[0].self == 640 * kPicosecondsPerMicrosecond);
}

TEST_CASE("one outlier does not make a share, and the step markers' share stands beside it") {
  SyntheticTrace written = prefetch_map(20, 20, 1000);
  written.events[0].duration_us = 900;  // the first GetNext op
  for (int step = 0; step < 20; ++step) {
    written.add("steps", "train", 1000 + step * 1000, 500).ids["step_num"] = static_cast<std::uint64_t>(step);
  }
  const Trace trace = written.to_trace();
  const PipelineMeasurement pipeline = measure(trace, build_tree(trace)).pipelines.at(0);
  CHECK(pipeline.cadence.share > 0.07);
  CHECK(pipeline.trimmed_cadence.share == doctest::Approx(0.03));
  CHECK(pipeline.trimmed_cadence.without_call == 0);
  CHECK(pipeline.input_share() == pipeline.trimmed_cadence.share);
  REQUIRE(pipeline.step_share);
  CHECK(*pipeline.step_share == doctest::Approx((19 * 30.0 + 500) / (20 * 500)));
}

TEST_CASE("self time does not count waiting") {
  const Trace trace = prefetch_map(1, 800, 1000).to_trace();
  for (const IteratorMeasurement& iterator : measure(trace, build_tree(trace)).iterators) {
    CAPTURE(iterator.long_name);
    CHECK((iterator.short_name == "Prefetch") == (iterator.wait > 0));
    CHECK((iterator.short_name == "Prefetch") == (iterator.self == 0));
    CHECK(iterator.calls == 1);
  }
}

TEST_CASE("a shuffle that fills its buffer is seen, one that runs is not") {
  for (const bool fills : {true, false}) {
    SyntheticTrace written;
    double now = 0;
    for (int call = 0; call < 10; ++call) {
      const int inputs = fills && call == 0 ? 100 : 1;
      written.iterator("main", "Iterator::Root", 1, 0, now, inputs * 2 + 4);
      auto& shuffle = written.iterator("main", "Iterator::Root::Shuffle", 2, 1, now + 1, inputs * 2 + 2);
      shuffle.numbers["buffer_size"] = 100;
      for (int input = 0; input < inputs; ++input) {
        written.iterator("main", "Iterator::Root::Shuffle::Range", 3, 2, now + 1 + input * 2, 1);
      }
      now += 1000;
    }
    const Trace trace = written.to_trace();
    const PipelineMeasurement pipeline = measure(trace, build_tree(trace)).pipelines.at(0);
    REQUIRE(pipeline.shuffle_fill.has_value() == fills);
    if (!fills) continue;
    CHECK(pipeline.shuffle_fill->elements == 100);
    CHECK(pipeline.shuffle_fill->buffer_size == 100);
    CHECK(pipeline.shuffle_fill->duration == 202 * kPicosecondsPerMicrosecond);
  }
}

TEST_CASE("a call of a shuffle that reads four times as many inputs as the usual one fills its buffer") {
  const auto fills = [](int inputs_of_first) {
    SyntheticTrace written;
    for (int call = 0; call < 10; ++call) {
      const double start = call * 1000;
      const int inputs = call == 0 ? inputs_of_first : 2;
      written.iterator("main", "Iterator::Root", 1, 0, start, 40);
      written.iterator("main", "Iterator::Root::Shuffle", 2, 1, start + 1, 38);
      for (int input = 0; input < inputs; ++input)
        written.iterator("main", "Iterator::Root::Shuffle::Range", 3, 2, start + 2 + input * 2, 1);
    }
    const Trace trace = written.to_trace();
    return measure(trace, build_tree(trace)).pipelines.at(0).shuffle_fill.has_value();
  };
  CHECK(fills(8));
  CHECK_FALSE(fills(7));
}

TEST_CASE("a cache fills while inputs are read below it") {
  for (const bool fills : {true, false}) {
    SyntheticTrace written;
    written.iterator("main", "Iterator::Root", 1, 0, 0, 100);
    written.iterator("main", "Iterator::Root::MemoryCache", 2, 1, 1, 90);
    written.iterator("main", "Iterator::Root::MemoryCache::MemoryCacheImpl", 3, 2, 2, 80);
    if (fills) written.iterator("main", "Iterator::Root::MemoryCache::MemoryCacheImpl::Map", 4, 3, 3, 70);
    const Trace trace = written.to_trace();
    CHECK(measure(trace, build_tree(trace)).pipelines.at(0).cache_fills.size() == (fills ? 1 : 0));
  }
}

TEST_CASE("a single call has a share only where a step marker gives it a denominator") {
  SyntheticTrace written = prefetch_map(1, 290, 1000);
  written.add("idle", "f/Sleep:Sleep", 1000, 1e6);  // the window is a second long
  const Trace without = written.to_trace();
  Measurements alone;
  alone.hosts.push_back(measure(without, build_tree(without)));
  CHECK_FALSE(alone.hosts[0].pipelines.at(0).has_cadence);
  const Judgement judgement = judge(alone, ThresholdValues(judgement_thresholds(), {}));
  CHECK(judgement.status == VerdictStatus::inconclusive);
  const auto* const few = std::get_if<doubts::FewCalls>(&judgement.pipelines.at(0).doubt);
  REQUIRE(few != nullptr);
  CHECK(few->calls == 1);
  CHECK_FALSE(few->has_cadence);
  written.add("steps", "train", 900, 1000).ids["step_num"] = 1;
  const Trace with = written.to_trace();
  const PipelineMeasurement pipeline = measure(with, build_tree(with)).pipelines.at(0);
  CHECK(pipeline.has_cadence);
  CHECK(pipeline.input_share() == doctest::Approx(0.3));
}

TEST_CASE("a generator under flat_map is a source even where no Python op was recorded") {
  for (const std::string above : {"FlatMap[0]", "Prefetch"}) {
    SyntheticTrace written;
    const std::string parent = "Iterator::Root::" + std::string(short_name_of(above));
    written.iterator("main", "Iterator::Root", 1, 0, 0, 100);
    written.iterator("main", parent, 2, 1, 1, 90);
    written.iterator("main", "Iterator::Root::" + above + "::Generator", 3, 2, 2, 80);
    const Trace trace = written.to_trace();
    const IteratorMeasurement generator = measure(trace, build_tree(trace)).iterators.at(2);
    CHECK(generator.is_source == (above != "Prefetch"));
    CHECK(generator.is_device_hop == (above == "Prefetch"));
    CHECK((generator.self > 0) == generator.is_source);
  }
}

TEST_CASE("a thread of tf.data alone, or an op of it, shows that a job uses tf.data") {
  const auto mentions = [](const std::string& thread, const std::string& op) {
    SyntheticTrace written;
    written.add("main", "f/MatMul:MatMul", 0, 10);
    written.add(thread, op, 20, 10);
    const Trace trace = written.to_trace();
    const HostMeasurement measured = measure(trace, build_tree(trace));
    CHECK(measured.iterators.empty());
    return measured.mentions_tf_data;
  };
  CHECK_FALSE(mentions("pool", "f/Cast:Cast"));
  CHECK(mentions("tf_data_private_threadpool/1", "f/Cast:Cast"));
  CHECK(mentions("pool", "MapDataset:MapDataset"));
  CHECK(mentions("pool", "OptimizeDatasetV2:OptimizeDatasetV2"));
  CHECK(mentions("pool", "AnonymousIteratorV3:AnonymousIteratorV3"));
  CHECK(mentions("tf_data_private_threadpool/1", "MapDataset:MapDataset"));
}

TEST_CASE("there is no CPU utilization without a CPU budget or of one without cores") {
  PipelineMeasurement pipeline;
  PhaseMeasurement phase;
  phase.busy_threads = 1;
  CHECK_FALSE(cpu_utilization(pipeline, phase));
  for (const std::int64_t budget : {0, -1}) {
    pipeline.cpu_budget = budget;
    CHECK_FALSE(cpu_utilization(pipeline, phase));
  }
  pipeline.cpu_budget = 4;
  CHECK(cpu_utilization(pipeline, phase) == 0.25);
}

TEST_CASE("an empty trace measures to nothing") {
  const Trace trace;
  const HostMeasurement measured = measure(trace, build_tree(trace));
  CHECK(measured.pipelines.empty());
  CHECK(measured.iterators.empty());
}

}  // namespace doctor::measure_test
