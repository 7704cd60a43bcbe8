#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"
#include "compare/run_summary.h"

namespace doctor {

/// So many durations that are nearly alike.
inline DurationStatistics durations(std::uint64_t count, double microseconds, double tail_share = 0) {
  const Picoseconds usual = std::llround(microseconds * 1e6);
  DurationStatistics statistics;
  statistics.count = count;
  statistics.total = std::llround(static_cast<double>(usual) * static_cast<double>(count) / (1 - tail_share));
  statistics.p25 = statistics.median = statistics.p90 = statistics.p99 = usual;
  statistics.tail = statistics.total - usual * static_cast<Picoseconds>(count);
  return statistics;
}

/// Summaries of recordings for tests, written by hand: a tree of iterators, of which each takes its time.
class SummaryBuilder {
 public:
  static constexpr std::uint64_t kSteps = 100;

  SummaryBuilder() { run_.source = "recording"; }

  /// A chain from the root to the source, written as one word: "Root Prefetch ParallelMap TensorSlice".
  explicit SummaryBuilder(std::string_view chain) : SummaryBuilder() {
    std::size_t parent = kNoIndex;
    while (!chain.empty()) {
      const std::size_t end = std::min(chain.find(' '), chain.size());
      parent = add(std::string(chain.substr(0, end)), parent);
      chain.remove_prefix(std::min(end + 1, chain.size()));
    }
    add_pipeline(0);
  }

  /// One call a step, that takes 100 us where it is not on other threads.
  std::size_t add(const std::string& kind, std::size_t parent) {
    IteratorSummary iterator;
    iterator.kind = iterator.words = kind;
    iterator.parent = parent;
    iterator.long_name = (parent == kNoIndex ? "Iterator" : run_.iterators[parent].long_name) + "::" + kind;
    iterator.calls = kSteps;
    if (kind != "Prefetch" && !kind.starts_with("Parallel")) iterator.self = durations(kSteps, 100);
    run_.iterators.push_back(std::move(iterator));
    return run_.iterators.size() - 1;
  }

  void add_pipeline(std::size_t root) {
    PipelineSummary pipeline;
    pipeline.root = root;
    pipeline.get_next = durations(kSteps, 300);
    pipeline.step = durations(kSteps, 400);
    run_.pipelines.push_back(pipeline);
  }

  /// The first iterator of that kind.
  IteratorSummary& operator[](std::string_view kind) {
    for (IteratorSummary& iterator : run_.iterators) {
      if (iterator.kind == kind) return iterator;
    }
    throw std::out_of_range(std::string(kind));
  }

  SummaryBuilder& sets(std::string_view kind, const std::string& name, std::int64_t low, std::int64_t high) {
    (*this)[kind].settings.push_back({name, low, high});
    return *this;
  }
  SummaryBuilder& sets(std::string_view kind, const std::string& name, std::int64_t value) {
    return sets(kind, name, value, value);
  }
  SummaryBuilder& tunes(std::string_view kind) {
    (*this)[kind].is_autotuned = true;
    return *this;
  }
  SummaryBuilder& takes(std::string_view kind, double microseconds) {
    (*this)[kind].self = durations((*this)[kind].calls, microseconds);
    return *this;
  }
  SummaryBuilder& is_called(std::string_view kind, std::uint64_t calls) {
    IteratorSummary& iterator = (*this)[kind];
    iterator.calls = calls;
    if (iterator.self.count > 0) iterator.self = durations(calls, static_cast<double>(iterator.self.p25) / 1e6);
    return *this;
  }
  SummaryBuilder& runs(std::string_view kind, const std::string& op, double microseconds) {
    (*this)[kind].function_ops.push_back({op, durations((*this)[kind].calls, microseconds)});
    return *this;
  }
  SummaryBuilder& finds(const std::string& rule, const std::string& subject, Severity severity = Severity::warning) {
    run_.findings.push_back({rule, severity, subject});
    return *this;
  }

  RunSummary& run() { return run_; }
  operator const RunSummary&() const { return run_; }

 private:
  RunSummary run_;
};

inline void scale(DurationStatistics& statistics, double factor) {
  for (Picoseconds* const time :
       {&statistics.total, &statistics.p25, &statistics.median, &statistics.p90, &statistics.p99, &statistics.tail}) {
    *time = std::llround(static_cast<double>(*time) * factor);
  }
}

/// The same run where everything takes `factor` times as long.
inline RunSummary scaled(RunSummary run, double factor) {
  for (IteratorSummary& iterator : run.iterators) {
    scale(iterator.self, factor);
    for (OpSummary& op : iterator.function_ops) scale(op.durations, factor);
  }
  for (PipelineSummary& pipeline : run.pipelines) {
    scale(pipeline.get_next, factor);
    scale(pipeline.step, factor);
  }
  return run;
}

/// Recordings of one pipeline: each differs from the summary by a part of up to 1%, drawn for each of its times.
inline std::vector<RunSummary> recordings(const RunSummary& run, std::size_t count, std::uint64_t seed,
                                          double noise = 0.01) {
  std::mt19937_64 random(seed);
  const auto factor = [&] { return 1 + noise * static_cast<double>(random() % 1001) / 1000; };
  std::vector<RunSummary> runs(count, run);
  for (RunSummary& one : runs) {
    for (IteratorSummary& iterator : one.iterators) {
      scale(iterator.self, factor());
      for (OpSummary& op : iterator.function_ops) scale(op.durations, factor());
    }
    for (PipelineSummary& pipeline : one.pipelines) {
      scale(pipeline.get_next, factor());
      scale(pipeline.step, factor());
    }
  }
  return runs;
}

inline RunComparison compare_runs(const std::vector<RunSummary>& base, const std::vector<RunSummary>& candidate,
                                  const ComparisonChoice& choice = {}) {
  return compare(base, candidate, choice, ThresholdValues(comparison_thresholds(), {}));
}

/// The first change of a kind; null if there is none.
inline const StructureChange* find_change(const RunComparison& comparison, ChangeKind kind) {
  for (const StructureChange& change : comparison.changes) {
    if (change.kind == kind) return &change;
  }
  return nullptr;
}

inline const TimeRow* find_row(const RunComparison& comparison, TimeKind kind, std::string_view words) {
  for (const std::vector<TimeRow>* rows : {&comparison.rows, &comparison.pipeline_rows}) {
    for (const TimeRow& row : *rows) {
      if (row.kind == kind && row.words == words) return &row;
    }
  }
  return nullptr;
}

}  // namespace doctor
