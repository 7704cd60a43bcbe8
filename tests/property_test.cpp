#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "diagnose/judgement.h"
#include "measure/measure.h"
#include "measure/measurements.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::property_test {
namespace {

/// Random pipelines with random calls on random threads: parents, waits, functions, Zip inputs, overlaps. Seeded, so
/// that a failure can be repeated.
class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  SyntheticTrace make() {
    const int pipelines = pick(1, 2);
    for (int pipeline = 0; pipeline < pipelines; ++pipeline) {
      double now = pick(0, 5000);
      const int calls = pick(1, 12);
      next_id_ = static_cast<std::uint64_t>(pipeline + 1) << 40;
      const std::string consumer = "consumer-" + std::to_string(pipeline);
      for (int call = 0; call < calls; ++call) {
        const double length = pick(20, 4000);
        if (pick(0, 3) > 0) trace_.add(consumer, "IteratorGetNextOp::DoCompute", now, length);
        iterator(consumer, "Iterator::Root", 0, now + 1, length - 2, 0);
        now += length + pick(1, 3000);
      }
    }
    return trace_;
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::uint64_t id_of(const std::string& long_name) {
    const auto [place, is_new] = ids_.try_emplace({long_name, next_id_ >> 40}, 0);
    if (is_new) place->second = next_id_++ * 0x9e37'79b9'7f4a'7c15u;  // spread over all 64 bits, as hashes are
    return place->second;
  }

  void iterator(const std::string& thread, const std::string& name, std::uint64_t parent, double start, double length,
                int depth) {
    trace_.iterator(thread, name, id_of(name), parent, start, length);
    if (depth == 6 || length < 8) return;
    static const std::vector<std::string> kKinds = {"Prefetch", "BatchV2", "Map",      "ParallelMapV2",
                                                    "Zip",      "Shuffle", "TFRecord", "ParallelInterleaveV4"};
    const std::string& kind =
        kKinds[(std::hash<std::string>{}(name) + static_cast<std::size_t>(depth)) % kKinds.size()];
    const std::string last = name.substr(name.rfind("::") + 2);
    const bool is_async = last.starts_with("Prefetch") || last.starts_with("Parallel");
    const std::string where = is_async ? "worker-" + last + std::to_string(depth) : thread;
    double now = start + 1;
    const int children = last == "TFRecord" ? 0 : pick(0, 3);
    for (int child = 0; child < children; ++child) {
      const double room = start + length - 1 - now;
      if (room < 3) break;
      const double child_length = std::floor(room / pick(1, 3));
      // Background calls may begin before and end after the call that waits for them.
      const double shift = is_async ? -pick(0, 10) : 0;
      const std::string index = last == "Zip" ? "[" + std::to_string(child % 2) + "]" : "";
      iterator(where, fmt::format("{}{}::{}", name, index, kind), id_of(name), now + shift, child_length, depth + 1);
      now += child_length + pick(0, 5);
    }
    if (last == "Map" && start + length - now > 4) {
      trace_.add(thread, "InstantiatedCapturedFunction::Run", now, start + length - now - 1).ids["id"] = next_id_;
      trace_.add("pool", "ExecutorState::Process", now, 2).ids["id"] = next_id_;
      trace_.add("pool", "f/MatMul:MatMul", now, 1);
    }
  }

  std::mt19937 random_;
  SyntheticTrace trace_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> ids_;
  std::uint64_t next_id_ = 1;
};

HostMeasurement measured(const SyntheticTrace& written) {
  const Trace trace = written.to_trace();
  return measure(trace, build_tree(trace));
}

/// All that a report would say of the pipelines, as one text.
std::string summary(const HostMeasurement& host) {
  Measurements measurements;
  measurements.hosts.push_back(host);
  const Judgement judgement = judge(measurements, ThresholdValues(judgement_thresholds(), {}));
  std::string text = std::to_string(static_cast<int>(judgement.status));
  for (const PipelineJudgement& judged : judgement.pipelines) {
    const PipelineMeasurement& pipeline = host.pipelines[judged.pipeline];
    text += fmt::format(
        "\n{} calls {} warm-up {} total {} median {} share {:.9f} culprit {} of {}", judged.pipeline,
        pipeline.calls.size(), pipeline.warmup_count, pipeline.total, pipeline.median, pipeline.input_share(),
        judged.culprit == kNoIterator ? "-" : host.iterators[judged.culprit].long_name, judged.culprit_share);
    for (const IteratorId member : pipeline.members) {
      const IteratorMeasurement& iterator = host.iterators[member];
      text += fmt::format("\n  {} {} {} {} {} {}", iterator.long_name, iterator.calls, iterator.total, iterator.self,
                          iterator.wait, pipeline.steady.critical[member]);
    }
  }
  return text;
}

constexpr unsigned kSeeds = 60;

}  // namespace

TEST_CASE("segments of every call sum to its latency") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Trace trace = RandomTrace(seed).make().to_trace();
    const HostMeasurement host = measure(trace, build_tree(trace));
    CHECK(host.unattributed == 0);
    for (const PipelineMeasurement& pipeline : host.pipelines) {
      for (const PhaseMeasurement* phase : {&pipeline.warmup, &pipeline.steady}) {
        Picoseconds sum = phase->handoff + phase->unseen + phase->outside;
        for (const auto& [iterator, critical] : phase->critical.entries()) sum += critical;
        CHECK(sum == phase->waited);
      }
    }
  }
}

TEST_CASE("the order of events and threads in the file changes nothing") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    SyntheticTrace trace = RandomTrace(seed).make();
    const std::string expected = summary(measured(trace));
    std::mt19937 random(seed);
    std::shuffle(trace.events.begin(), trace.events.end(), random);
    CHECK(summary(measured(trace)) == expected);
  }
}

TEST_CASE("names of threads change nothing") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    SyntheticTrace trace = RandomTrace(seed).make();
    const std::string expected = summary(measured(trace));
    for (auto& event : trace.events) event.thread = "renamed " + event.thread;
    CHECK(summary(measured(trace)) == expected);
  }
}

TEST_CASE("doubling all times doubles all times") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    SyntheticTrace trace = RandomTrace(seed).make();
    const HostMeasurement once = measured(trace);
    for (auto& event : trace.events) {
      event.start_us *= 2;
      event.duration_us *= 2;
    }
    const HostMeasurement twice = measured(trace);
    REQUIRE(once.pipelines.size() == twice.pipelines.size());
    for (std::size_t index = 0; index < once.pipelines.size(); ++index) {
      const PipelineMeasurement& before = once.pipelines[index];
      const PipelineMeasurement& after = twice.pipelines[index];
      CHECK(after.total == 2 * before.total);
      CHECK(after.median == 2 * before.median);
      CHECK(after.cadence.share == doctest::Approx(before.cadence.share));
      // Warm-up has an absolute floor of 1 ms, so only equal phases can be compared.
      if (before.warmup_count != after.warmup_count) continue;
      for (const auto& [iterator, time] : before.steady.critical.entries()) {
        CHECK(after.steady.critical[iterator] == 2 * time);
      }
    }
    for (std::size_t index = 0; index < once.iterators.size(); ++index) {
      CHECK(twice.iterators[index].self == 2 * once.iterators[index].self);
    }
  }
}

TEST_CASE("the same run as XSpace and as JSON gives the same numbers") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const SyntheticTrace written = RandomTrace(seed).make();
    const Result<Trace> json = SyntheticTrace::read(written.to_chrome_json());
    REQUIRE(json);
    CHECK(json->files.at(0).format == "chrome_json");
    CHECK(summary(measure(*json, build_tree(*json))) == summary(measured(written)));
  }
}

}  // namespace doctor::property_test
