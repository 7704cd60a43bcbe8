// How long single calls of iterators and of ops in their functions take.

#include "measure/waits/call_times.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "measure/functions/function_owners.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::call_times_test {
namespace {

/// "Range 3x5, Map/MatMul 2x7": how many there are, and what the usual one takes in us. Root is left out.
std::string times_of(const SyntheticTrace& written, unsigned threads = 1) {
  const Trace trace = written.to_trace();
  const IteratorForest forest = build_tree(trace);
  std::vector<bool> waits;
  for (const LogicalIterator& iterator : forest.iterators) waits.push_back(iterator.is_async);
  WorkOptions work;
  work.threads = threads;
  const CallTimes times =
      measure_call_times(trace, forest, waits, FunctionOwners(trace, forest, op_kinds_of(trace.strings)), work);
  REQUIRE(times.self.size() == forest.iterators.size());
  std::vector<std::string> texts;
  const auto add = [&](const std::string& name, const DurationStatistics& durations) {
    if (durations.count > 0) {
      texts.push_back(fmt::format("{} {}x{}", name, durations.count,
                                  std::llround(static_cast<double>(durations.p25) / kPicosecondsPerMicrosecond)));
    }
  };
  for (std::size_t index = 0; index < times.self.size(); ++index) {
    const LogicalIterator& iterator = forest[static_cast<IteratorId>(index)];
    if (iterator.parent != kNoIterator) add(iterator.short_name, times.self[index]);
  }
  for (const FunctionOpTimes& op : times.function_ops) {
    add(forest[op.iterator].long_name.substr(forest[op.iterator].long_name.rfind("::") + 2) + "/" + op.op,
        op.durations);
  }
  std::sort(texts.begin(), texts.end());
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ", ") + one;
  return text;
}

void add_op(SyntheticTrace& trace, std::uint64_t function, const std::string& op, double start_us, double duration_us) {
  trace.add("pool", "ExecutorState::Process", start_us, duration_us + 2).ids["id"] = function;
  trace.add("pool", "f/" + op + ":" + op, start_us + 1, duration_us);
}

/// A function that a call of `input` told its parent to run, with one op that takes so long.
void add_produced(SyntheticTrace& trace, const std::string& input, std::uint64_t id, std::uint64_t parent,
                  std::uint64_t function, double start_us, double op_us) {
  const std::string thread = "runner-" + std::to_string(parent);
  trace.add(thread, "ParallelMapProduce", start_us, 20).ids["element_id"] = function;
  trace.iterator(thread, input, id, parent, start_us + 1, 10);
  trace.add(thread, "InstantiatedCapturedFunction::RunAsync", start_us + 12, 5).ids["id"] = function;
  add_op(trace, function, "MatMul", start_us + 18, op_us);
}

TEST_CASE("synchronous iterators have the part of a call that is in no nested call; those that wait have none") {
  SyntheticTrace trace;
  for (int call = 0; call < 4; ++call) {
    const double start = 1000 * call;
    trace.iterator("main", "Iterator::Root", 1, 0, start, 100);
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, start + 5, 90);
    trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2", 3, 2, start, 80);
    trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2::Range", 4, 3, start + 10, 7);
    trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2::Range", 4, 3, start + 20, 7);
  }
  CHECK(times_of(trace) == "BatchV2 4x66, Range 8x7");
}

TEST_CASE("ops belong to the iterator whose function ran them; wrappers are left out") {
  SyntheticTrace trace;
  for (std::uint64_t call = 1; call <= 3; ++call) {
    const double start = 1000 * static_cast<double>(call);
    trace.iterator("main", "Iterator::Root", 1, 0, start, 200);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 1, 180);
    trace.add("main", "InstantiatedCapturedFunction::Run", start + 10, 150).ids["id"] = call;
    add_op(trace, call, "MatMul", start + 12, 30);
    add_op(trace, call, "While", start + 52, 40);
    add_op(trace, call, "Cast", start + 102, 5);
  }
  add_op(trace, 99, "MatMul", 9000, 700);  // of no function that an iterator ran
  trace.add("pool", "train/MatMul:MatMul", 9900, 700);
  CHECK(times_of(trace) == "Map 3x180, Map/Cast 3x5, Map/MatMul 3x30");
}

TEST_CASE("functions of parallel maps are told by the element that is made") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 5000);
  trace.iterator("main", "Iterator::Root::ParallelMapV2", 2, 1, 1, 4900);
  for (std::uint64_t call = 0; call < 3; ++call) {
    const double start = 100 + 200 * static_cast<double>(call);
    add_produced(trace, "Iterator::Root::ParallelMapV2::ParallelInterleaveV4", 3, 2, 10 + call, start, 40);
    add_produced(trace, "Iterator::Root::ParallelMapV2::ParallelInterleaveV4::Range", 4, 3, 20 + call, start + 100, 8);
  }
  CHECK(times_of(trace) == "ParallelInterleaveV4/MatMul 3x8, ParallelMapV2/MatMul 3x40, Range 3x10");
}

/// Root > Prefetch > ParallelMap > (ParallelMap >) Range, with functions that no element tells of.
SyntheticTrace loose_functions(bool has_second, bool is_second_told, bool has_second_first) {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 100, 5000);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 101, 4900);
  const std::string outer = "Iterator::Root::Prefetch::ParallelMapV2";
  const std::string inner = outer + "::ParallelMapV2";
  trace.iterator("worker", outer, 3, 2, 110, 4000);
  if (has_second) trace.iterator("worker-2", inner, 4, 3, has_second_first ? 10 : 200, 3000);
  if (is_second_told) add_produced(trace, inner + "::Range", 5, 4, 50, 300, 9);
  for (std::uint64_t function = 1; function <= 2; ++function) {
    const double start = 1000 * static_cast<double>(function);
    trace.add("runner", "InstantiatedCapturedFunction::RunAsync", start, 5).ids["id"] = function;
    add_op(trace, function, "MatMul", start + 10, 30);
  }
  return trace;
}

TEST_CASE("functions that no element tells of belong to what calls functions, told ones not") {
  CHECK(times_of(loose_functions(false, false, false)) == "ParallelMapV2/MatMul 2x30");
  for (const bool has_second_first : {false, true}) {
    CAPTURE(has_second_first);
    CHECK(times_of(loose_functions(true, true, has_second_first)) ==
          "ParallelMapV2/MatMul 1x9, ParallelMapV2/MatMul 2x30, Range 1x10");
  }
}

TEST_CASE("where nothing tells two iterators apart, the same one has the ops in every recording") {
  const auto owner = [](bool has_second_first) {
    const Trace trace = loose_functions(true, false, has_second_first).to_trace();
    const IteratorForest forest = build_tree(trace);
    const CallTimes times = measure_call_times(trace, forest, std::vector<bool>(forest.iterators.size()),
                                               FunctionOwners(trace, forest, op_kinds_of(trace.strings)));
    REQUIRE(times.function_ops.size() == 1);
    return forest[times.function_ops[0].iterator].long_name;
  };
  CHECK(owner(false) == "Iterator::Root::Prefetch::ParallelMapV2");
  CHECK(owner(true) == owner(false));
}

TEST_CASE("the tail are calls that take many times as long as usual") {
  DurationHistogram histogram;
  for (int call = 0; call < 90; ++call) histogram.add(kPicosecondsPerMillisecond);
  for (int call = 0; call < 9; ++call) histogram.add(7 * kPicosecondsPerMillisecond);  // a busy machine
  CHECK(statistics_of(histogram).tail == 0);
  histogram.add(100 * kPicosecondsPerMillisecond);
  const DurationStatistics durations = statistics_of(histogram);
  CHECK(durations.tail == doctest::Approx(100.0 * kPicosecondsPerMillisecond).epsilon(0.001));
  CHECK(durations.count == 100);
  CHECK(durations.total == 253 * kPicosecondsPerMillisecond);
  CHECK(durations.p25 == doctest::Approx(1.0 * kPicosecondsPerMillisecond).epsilon(0.001));
  CHECK(durations.p90 >= durations.median);
  CHECK(durations.p99 >= durations.p90);
  // Of calls of microseconds it needs 10 ms more, for so long the machine may be busy with something else.
  DurationHistogram fast;
  for (int call = 0; call < 99; ++call) fast.add(kPicosecondsPerMicrosecond);
  fast.add(9 * kPicosecondsPerMillisecond);
  CHECK(statistics_of(fast).tail == 0);
  CHECK(statistics_of({}) == DurationStatistics{});
}

TEST_CASE("neither threads nor the order of events change a time") {
  SyntheticTrace trace = loose_functions(true, true, false);
  for (std::uint64_t call = 0; call < 40; ++call) {
    const std::string thread = "worker-" + std::to_string(call % 5);
    const double start = 10'000 + 100 * static_cast<double>(call);
    trace.iterator(thread, "Iterator::Root::Prefetch::ParallelMapV2::ParallelMapV2::Range", 5, 4, start,
                   10 + static_cast<double>(call));
  }
  const std::string expected = times_of(trace);
  CHECK(times_of(trace, 3) == expected);
  std::mt19937_64 random(1);
  for (int order = 0; order < 5; ++order) {
    for (std::size_t index = trace.events.size(); index > 1; --index) {
      std::swap(trace.events[index - 1], trace.events[random() % index]);
    }
    CHECK(times_of(trace, 2) == expected);
  }
}

}  // namespace

}  // namespace doctor::call_times_test
