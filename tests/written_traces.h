#pragma once

#include <string>
#include <utility>
#include <vector>

#include "synthetic_trace.h"

// Traces written by hand, for cases of rules whose fault no labelled recording shows. Each follows a run of TF 2.21 in
// its structure, attributes and rough times.

/// A pipeline Root > Prefetch > BatchV2 > (ShuffleV3 >) ParallelMapV2 > Range on two cores whose consumer waits.
struct WrittenPipeline {
  std::string map_autotune = "true";
  std::int64_t map_parallelism = 2;
  std::int64_t intra_op_parallelism = 1;
  std::int64_t ram_budget_megabytes = 10'000;
  std::int64_t shuffle_megabytes = 0;   ///< in 299 elements; 0: no shuffle
  std::int64_t prefetch_megabytes = 0;  ///< in two batches; 0: the trace does not say it
  std::string op = "MatMul";            ///< of the function; "EagerPyFunc" sleeps
  int steps = 12;
  int slow_from = 0;       ///< the steps before it take a tenth of the time
  double split_share = 0;  ///< part of the function's time in which two compute threads help its op

  SyntheticTrace to_trace() const;

 private:
  static constexpr double kFunctionUs = 5000;
  static constexpr double kStepUs = kFunctionUs + 500;

  double function_us(int step) const { return step < slow_from ? kFunctionUs / 10 : kFunctionUs; }

  static std::uint64_t element_id(int step, int element) {
    return static_cast<std::uint64_t>(step) * 2 + static_cast<std::uint64_t>(element) + 1;
  }
  void add_consumer(SyntheticTrace& trace, int step) const;
  void add_producer(SyntheticTrace& trace, int step) const;
  void add_functions(SyntheticTrace& trace, int step) const;
};

inline void WrittenPipeline::add_consumer(SyntheticTrace& trace, int step) const {
  const double start = 1000 + step * kStepUs;
  trace.add("python", "IteratorGetNextOp::DoCompute", start, function_us(step) + 100);
  auto& root = trace.iterator("python", "Iterator::Root", 1, 0, start + 5, function_us(step) + 90);
  root.numbers = {{"cpu_budget", 2},
                  {"threadpool_size", 2},
                  {"intra_op_parallelism", intra_op_parallelism},
                  {"ram_budget_megabytes", ram_budget_megabytes}};
  auto& prefetch = trace.iterator("python", "Iterator::Root::Prefetch", 2, 1, start + 10, function_us(step) + 80);
  prefetch.numbers = {{"buffer_limit", 2}};
  if (prefetch_megabytes > 0) {
    prefetch.numbers.insert({{"buffered_elements", 2}, {"buffered_bytes_MB", prefetch_megabytes}});
  }
  prefetch.texts = {{"autotune", "true"}};
}

/// The prefetch's thread takes a batch of two from the map, which calls its function for both at once.
inline void WrittenPipeline::add_producer(SyntheticTrace& trace, int step) const {
  const double start = 1020 + step * kStepUs;
  const std::string batch = "Iterator::Root::Prefetch::BatchV2";
  const std::string shuffle = batch + "::ShuffleV3";
  const std::string map = (shuffle_megabytes > 0 ? shuffle : batch) + "::ParallelMapV2";
  trace.iterator("prefetch", batch, 3, 2, start, function_us(step) + 50).numbers = {{"batch_size", 2}};
  for (const int element : {0, 1}) {
    const double begin = element == 0 ? start + 5 : start + function_us(step) + 20;
    const double length = element == 0 ? function_us(step) + 10 : 10;
    if (shuffle_megabytes > 0) {
      trace.iterator("prefetch", shuffle, 4, 3, begin, length + 4).numbers = {
          {"buffer_size", 300}, {"buffered_elements", 299}, {"buffered_bytes_MB", shuffle_megabytes}};
    }
    auto& call = trace.iterator("prefetch", map, 5, shuffle_megabytes > 0 ? 4 : 3, begin + 2, length);
    call.numbers = {{"parallelism", map_parallelism}};
    call.texts = {{"autotune", map_autotune}};
    const std::uint64_t id = element_id(step, element);
    trace.add("prefetch", "ParallelMapConsume", begin + 3, 1).ids["element_id"] = id;
    const double produced = start + 8 + element * 8;
    trace.add("runner", "ParallelMapProduce", produced, 7).ids["element_id"] = id;
    trace.iterator("runner", map + "::Range", 6, 5, produced + 1, 1);
    trace.add("runner", "InstantiatedCapturedFunction::RunAsync", produced + 3, 2).ids["id"] = id;
  }
}

inline void WrittenPipeline::add_functions(SyntheticTrace& trace, int step) const {
  const double start = 1050 + step * kStepUs;
  for (const int element : {0, 1}) {
    const std::string thread = element == 0 ? "tf_data_private_threadpool/1" : "tf_data_private_threadpool/2";
    const std::uint64_t id = element_id(step, element);
    trace.add(thread, "ExecutorState::Process", start, function_us(step) - 40).ids["id"] = id;
    trace.add(thread, "f/" + op + ":" + op, start + 5, function_us(step) - 50);
    if (split_share <= 0) continue;
    const std::string helper = element == 0 ? "tf_numa_-1_Eigen/1" : "tf_numa_-1_Eigen/2";
    trace.add(helper, "ThreadpoolListener::StartRegion", start + 100, 0.1);
    trace.add(helper, "ThreadpoolListener::StopRegion", start + 100 + split_share * function_us(step), 0.1);
  }
}

inline SyntheticTrace WrittenPipeline::to_trace() const {
  SyntheticTrace trace;
  for (int step = 0; step < steps; ++step) {
    add_consumer(trace, step);
    add_producer(trace, step);
    add_functions(trace, step);
  }
  return trace;
}

struct WrittenCase {
  std::string file;  ///< below testdata/rules
  WrittenPipeline pipeline;
};

/// The cases of rules whose traces are written by hand.
inline std::vector<WrittenCase> written_cases() {
  WrittenPipeline sleeps;
  sleeps.op = "EagerPyFunc";
  WrittenPipeline splits;
  splits.map_autotune = "false";
  splits.intra_op_parallelism = 2;
  splits.split_share = 0.6;
  WrittenPipeline shuffles;
  shuffles.ram_budget_megabytes = 314;
  shuffles.shuffle_megabytes = 313;
  WrittenPipeline buffers;
  buffers.ram_budget_megabytes = 314;
  buffers.shuffle_megabytes = 130;
  buffers.prefetch_megabytes = 60;
  WrittenPipeline buffers_more = buffers;
  buffers_more.prefetch_megabytes = 180;
  WrittenPipeline slows_down;
  slows_down.steps = 20;
  slows_down.slow_from = 10;
  return {{"autotune-limited/flags/written.trace.json", sleeps},
          {"buffers-near-ram-budget/flags/written.trace.json", buffers_more},
          {"buffers-near-ram-budget/clean/written.trace.json", buffers},
          {"changing-pace/flags/written.trace.json", slows_down},
          {"intra-op-parallelism/flags/written.trace.json", splits},
          {"memory-heavy-order/flags/written.trace.json", shuffles}};
}
