#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "trace/recording_facts.h"
#include "trace/source_lines.h"

namespace doctor {

/// A choice that the user made, or left to AUTOTUNE, as the events of an iterator show it: "parallelism" = 4.
struct SettingSummary {
  std::string name;      ///< the attribute in the trace
  std::int64_t low = 0;  ///< the smallest number that it had in the window
  std::int64_t high = 0;

  friend bool operator==(const SettingSummary&, const SettingSummary&) = default;
};

/// One type of op in an iterator's functions.
struct OpSummary {
  std::string op;
  DurationStatistics durations;
  CallsPerRun per_run = {};  ///< no runs: not known, as in baselines that earlier versions wrote

  friend bool operator==(const OpSummary&, const OpSummary&) = default;
};

inline constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

struct IteratorSummary {
  std::string long_name;
  std::string kind;                  ///< of dataset, without the runtime's version: "ParallelMap"
  std::string words;                 ///< what the user calls it: "Dataset.map with num_parallel_calls"
  std::string user_name;             ///< the `name=` that the user gave it; empty if none
  std::optional<SourceLine> source;  ///< where she wrote it, if that is known
  std::size_t parent = kNoIndex;     ///< index into RunSummary::iterators
  bool is_autotuned = false;
  std::vector<SettingSummary> settings;  ///< sorted by name; only those that it says
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> element_bytes = {};  ///< of one that it makes, by its shapes; older baselines lack it
  DurationStatistics self;                          ///< empty for one that waits for other threads
  std::vector<OpSummary> function_ops;              ///< sorted by op

  friend bool operator==(const IteratorSummary&, const IteratorSummary&) = default;
};

struct PipelineSummary {
  std::size_t root = kNoIndex;  ///< index into RunSummary::iterators; kNoIndex: only bare GetNext ops were seen
  bool is_device = false;
  bool feeds_another = false;
  DurationStatistics get_next;
  DurationStatistics step;  ///< from the start of a call to the start of the next
  double input_share = 0;   ///< part of the time that the consumer waits

  friend bool operator==(const PipelineSummary&, const PipelineSummary&) = default;
};

struct FindingSummary {
  std::string rule;
  Severity severity = Severity::warning;
  std::string subject;
  bool depends_on_load = false;  ///< as of Finding

  friend bool operator==(const FindingSummary&, const FindingSummary&) = default;
};

/// What a comparison needs of one recorded run: some kilobytes in place of a trace. Free-standing.
struct RunSummary {
  std::string source;        ///< the traces as the user named them; foreign text
  std::string tool_version;  ///< of the tool that made it
  RecordingFacts recording;  ///< nothing of it is known in baselines that earlier versions wrote
  VerdictStatus status = VerdictStatus::inconclusive;
  double confidence = 0;
  bool is_complete = true;                 ///< nothing of the traces was lost
  bool is_torn = false;                    ///< a part of a file is missing, see trace/torn.h: times mean little
  std::vector<IteratorSummary> iterators;  ///< in pre-order: parents come first, then their inputs, in order of name
  std::vector<PipelineSummary> pipelines;  ///< by root, those without one last
  std::vector<FindingSummary> findings;    ///< sorted; suppressed ones left out

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

/// Needs measurements that were made with ReadOptions::attribute_history and MeasureOptions::call_times; the sizes of
/// elements are known with AnalysisOptions::profile.
RunSummary summarize_run(std::string source, const Measurements& measurements, const Diagnosis& diagnosis);

/// From steady call to steady call of the consumer, without what lies between two iterations of the pipeline.
DurationHistogram steps_of(const PipelineMeasurement& pipeline);

/// Adds what the file beside the traces knows of how they were recorded, where the traces do not say it themselves.
void add_recording_facts(const RecordingFacts& facts, RunSummary& run);

}  // namespace doctor
