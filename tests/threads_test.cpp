#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>

#include "base/parallel.h"
#include "built_paths.h"
#include "diagnose/catalog.h"
#include "measure/measure.h"
#include "pipeline.h"
#include "report/report.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::threads_test {
namespace {

/// Root > Prefetch > BatchV2 > ParallelMapV2 > Shuffle > ParallelInterleaveV4 > TFRecord with 5000 calls and more on
/// several threads, so that threads are started for it. Times are random, and element ids come again.
class LongTrace {
 public:
  explicit LongTrace(unsigned seed) : random_(seed) {}

  SyntheticTrace make() {
    for (int batch = 0; batch < 80; ++batch) {
      const double start = 1000 * batch + pick(0, 200);
      const double length = pick(300, 700);
      trace_.add("consumer", "IteratorGetNextOp::DoCompute", start, length);
      trace_.iterator("consumer", "Iterator::Root", 1, 0, start + 1, length - 2).numbers["cpu_budget"] = 4;
      trace_.iterator("consumer", name("Prefetch"), 2, 1, start + 2, length - 4);
      trace_.add("consumer", "PrefetchConsume", start + 3, 0).ids["element_id"] = element(batch);
      trace_.add("batcher", "PrefetchProduce", start - 50, 600).ids["element_id"] = element(batch);
      trace_.iterator("batcher", name("Prefetch::BatchV2"), 3, 2, start - 49, 590);
      if (batch % 3 == 0) {
        // Another consumer, whose calls overlap several of the first: a moment counts once.
        trace_.add("consumer-2", "IteratorGetNextOp::DoCompute", start + 100, 2500);
        trace_.iterator("consumer-2", "Iterator::Root", 1, 0, start + 101, 2490);
        trace_.iterator("consumer-2", name("Prefetch"), 2, 1, start + 102, 2480);
      }
      for (int part = 0; part < 16; ++part) add_element(batch * 16 + part, start - 48 + 36 * part);
    }
    return std::move(trace_);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  static std::uint64_t element(int number) { return static_cast<std::uint64_t>(1000 + number % 700); }
  static std::string name(const std::string& below_root) { return "Iterator::Root::" + below_root; }

  /// One element of a batch is taken and one a little later is made.
  void add_element(int number, double start) {
    const std::string map = "Prefetch::BatchV2::ParallelMapV2";
    trace_.iterator("batcher", name(map), 4, 3, start, 35);
    trace_.add("batcher", "ParallelMapConsume", start + 1, 0).ids["element_id"] = element(number);
    trace_.add("runner", "ParallelMapProduce", start - 20, 30).ids["element_id"] = element(number);
    trace_.iterator("runner", name(map + "::Shuffle"), 5, 4, start - 19, 22);
    const int inputs = number == 3 ? 40 : 1;  // the buffer is filled
    for (int input = 0; input < inputs; ++input) {
      const double share = 20.0 / inputs;
      trace_.iterator("runner", name(map + "::Shuffle::ParallelInterleaveV4"), 6, 5, start - 18 + share * input, share);
    }
    const std::string worker = "worker-" + std::to_string(pick(0, 3));
    trace_.iterator(worker, name(map + "::Shuffle::ParallelInterleaveV4[0]::TFRecord"), 7, 6, start - pick(0, 30),
                    pick(1, 30));
    const auto function = static_cast<std::uint64_t>(number + 1) * 0x9e37'79b9'7f4a'7c15u;
    trace_.add("runner", "InstantiatedCapturedFunction::RunAsync", start + 5, 3).ids["id"] = function;
    const std::string pool = "tf_data-" + std::to_string(pick(0, 2));
    trace_.add(pool, "ExecutorState::Process", start + 8, 25).ids["id"] = function;
    trace_.add(pool, "f/MatMul:MatMul", start + 9, pick(1, 20));
    trace_.add(pool, "f/Python:PyFunc", start + 30, pick(1, 3));
  }

  std::mt19937 random_;
  SyntheticTrace trace_;
};

/// All that is printed for a trace.
std::string report(const Trace& trace, unsigned threads) {
  const WorkOptions work{threads, nullptr};
  Measurements measurements;
  measurements.hosts.push_back(measure(trace, build_tree(trace, work), work));
  const Diagnosis diagnosis = diagnose(measurements, all_rules(), {});
  return render_json(measurements, diagnosis) + to_text(page_document(kTreePage, measurements, diagnosis));
}

}  // namespace

TEST_CASE("every task runs once, with any number of threads") {
  for (const unsigned threads : {0u, 1u, 2u, 3u, 8u}) {
    for (const std::size_t count : {0u, 1u, 2u, 100u}) {
      std::vector<std::atomic<int>> runs(count);
      run_parallel(threads, count, [&](std::size_t task) { ++runs[task]; });
      CHECK(std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& run) { return run == 1; }));
    }
  }
}

TEST_CASE("one thread is the caller's own, two are two") {
  std::vector<std::size_t> order;
  const std::thread::id caller = std::this_thread::get_id();
  run_parallel(1, 3, [&](std::size_t task) {
    order.push_back(task);
    CHECK(std::this_thread::get_id() == caller);
  });
  CHECK(order == std::vector<std::size_t>{0, 1, 2});
  // Both tasks wait for each other: with less than two threads this would never end.
  std::atomic<int> begun = 0;
  run_parallel(2, 2, [&](std::size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  CHECK(begun == 2);
}

TEST_CASE("no two tasks run at once on a worker of the same number") {
  for (const unsigned threads : {0u, 1u, 2u, 3u}) {
    std::vector<std::atomic<int>> at_work(std::max(threads, 1u));
    std::atomic<int> runs = 0;
    run_parallel(threads, 200, [&](std::size_t, std::size_t worker) {
      REQUIRE(worker < at_work.size());
      CHECK(++at_work[worker] == 1);
      std::this_thread::yield();
      --at_work[worker];
      ++runs;
    });
    CHECK(runs == 200);
  }
}

TEST_CASE("what a task throws is thrown to the caller, whichever thread it ran on") {
  for (const unsigned threads : {1u, 2u, 3u}) {
    for (const std::size_t culprit : {0u, 1u, 49u}) {
      std::atomic<int> runs = 0;
      const auto run = [&](std::size_t task) {
        ++runs;
        if (task == culprit) throw std::runtime_error("broken");
      };
      CHECK_THROWS_WITH(run_parallel(threads, 50, run), "broken");
      CHECK(runs >= static_cast<int>(culprit) + 1);
      if (threads == 1) CHECK(runs == static_cast<int>(culprit) + 1);
    }
  }
  // Both threads throw at once: one of the two arrives.
  std::atomic<int> begun = 0;
  CHECK_THROWS_AS(run_parallel(2, 2,
                               [&](std::size_t) {
                                 ++begun;
                                 while (begun < 2) std::this_thread::yield();
                                 throw std::runtime_error("broken");
                               }),
                  std::runtime_error);
}

TEST_CASE("threads are for traces that are worth them") {
  CHECK(threads_for({2, nullptr}, 100) == 1);
  CHECK(threads_for({2, nullptr}, 100'000) == 2);
  CHECK(threads_for({0, nullptr}, 100'000) == 1);
}

TEST_CASE("a report is the same with any number of threads") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Trace trace = LongTrace(seed).make().to_trace();
    REQUIRE(threads_for({2, nullptr}, trace.iterator_event_count) == 2);
    const std::string expected = report(trace, 1);
    CHECK(expected.find("MatMul") != std::string::npos);
    for (const unsigned threads : {2u, 3u, 8u}) CHECK(report(trace, threads) == expected);
  }
}

TEST_CASE("a report of a recorded trace is the same with any number of threads") {
  for (const auto& file : std::filesystem::recursive_directory_iterator(source_dir() + "/testdata/traces")) {
    if (!file.is_regular_file() || file.path().string().ends_with(".expected.json")) continue;
    CAPTURE(file.path().string());
    const auto source = open_source(file.path());
    REQUIRE(source);
    const Result<Trace> trace = read_trace(**source);
    REQUIRE(trace);
    const std::string expected = report(*trace, 1);
    for (const unsigned threads : {2u, 3u}) CHECK(report(*trace, threads) == expected);
  }
}

}  // namespace doctor::threads_test
