#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "trace/format.h"
#include "trace/recording_facts.h"
#include "trace/source_lines.h"

namespace doctor {

/// A setting that the user chose, or left to AUTOTUNE, as the events of an iterator show it: "parallelism" = 4.
struct SettingSummary {
  std::string name;      ///< the attribute in the trace
  std::int64_t low = 0;  ///< the smallest value in the window
  std::int64_t high = 0;

  friend bool operator==(const SettingSummary&, const SettingSummary&) = default;
};

/// One type of op in an iterator's functions.
struct OpSummary {
  std::string op;
  DurationStatistics durations;
  CallsPerRun per_run = {};  ///< no runs: not known, as in baselines of earlier versions

  friend bool operator==(const OpSummary&, const OpSummary&) = default;
};

inline constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

struct IteratorSummary {
  std::string long_name;
  std::string kind;                  ///< of dataset, without the runtime's version: "ParallelMap"
  std::string words;                 ///< what the user calls it: "Dataset.map with num_parallel_calls"
  std::string user_name;             ///< the `name=` that the user gave it; empty if none
  std::optional<SourceLine> source;  ///< where the user wrote it, if that is known
  std::size_t parent = kNoIndex;     ///< index into RunSummary::iterators
  bool is_autotuned = false;
  bool is_parallelised_by_tf = false;    ///< UserCall::is_parallelised_by_tf; not known in older baselines
  std::vector<SettingSummary> settings;  ///< sorted by name; only settings that the events show
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> element_bytes = {};  ///< size of an element, by its shapes; older baselines lack it
  DurationStatistics self;                          ///< empty for an iterator that waits for other threads
  std::vector<OpSummary> function_ops;              ///< sorted by op

  friend bool operator==(const IteratorSummary&, const IteratorSummary&) = default;
};

struct PipelineSummary {
  std::size_t root = kNoIndex;  ///< index into RunSummary::iterators; kNoIndex: only bare GetNext ops were seen
  bool is_device = false;
  bool feeds_another = false;
  DurationStatistics get_next;
  DurationStatistics step;  ///< from the start of a call to the start of the next
  double input_share = 0;   ///< share of the time that the consumer waits

  friend bool operator==(const PipelineSummary&, const PipelineSummary&) = default;
};

struct FindingSummary {
  std::string rule;
  Severity severity = Severity::warning;
  std::string subject;
  bool depends_on_load = false;  ///< as in Finding

  friend bool operator==(const FindingSummary&, const FindingSummary&) = default;
};

/// The data of one recorded run that a comparison needs: some kilobytes in place of a trace. Self-contained.
struct RunSummary {
  std::string source;        ///< the traces as the user named them; foreign text
  std::string tool_version;  ///< of the tool that made it
  RecordingFacts recording;  ///< not known in baselines of earlier versions
  VerdictStatus status = VerdictStatus::inconclusive;
  double confidence = 0;
  bool is_complete = true;  ///< nothing of the traces was lost
  bool is_torn = false;     ///< a part of a file is missing, see trace/torn.h: times mean little
  /// in pre-order: parents come before their inputs, which are in order of name
  std::vector<IteratorSummary> iterators;
  std::vector<PipelineSummary> pipelines;  ///< by root, those without one last
  std::vector<FindingSummary> findings;    ///< sorted, without suppressed ones

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

/// What a summary needs of the traces.
TraceNeeds summary_needs();

/// Summarizes a run. The measurements must be made with summary_needs().
RunSummary summarize_run(std::string source, const Measurements& measurements, const Diagnosis& diagnosis);

/// Step times: from steady call to steady call of the consumer, without the time between two iterations of the
/// pipeline.
DurationHistogram steps_of(const PipelineMeasurement& pipeline);

/// Adds facts from the file beside the traces about how they were recorded, if the traces do not say them.
void add_recording_facts(const RecordingFacts& facts, RunSummary& run);

}  // namespace doctor
