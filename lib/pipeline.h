#pragma once

#include "base/result.h"
#include "base/work.h"
#include "diagnose/budgets.h"
#include "diagnose/diagnose.h"
#include "measure/measure.h"
#include "measure/measurements.h"
#include "trace/trace_needs.h"

namespace doctor {

/// Time spent in one stage, summed over the files.
struct StageTiming {
  std::string_view stage;
  std::chrono::nanoseconds duration{};
};

/// The diagnosis of one run with the numbers that it rests on. The traces themselves are gone.
struct Analysis {
  /// One host for each file, in the order given; TF1 timelines, each a step of one host's run, are one host together. A
  /// file that could not be read is a host without events whose loss says `files_unreadable`.
  Measurements measurements;
  Diagnosis diagnosis;
  IdleSuppressions idle_suppressions;
  std::vector<Error> unreadable;  ///< why files could not be read, in the order given; then DiagnosisSetup::absent
  Result<void> host_choice;       ///< the error if DiagnosisSetup::host names no host: then nothing is diagnosed

  std::vector<StageTiming> timings;  ///< in the order of the stages; those of the rules are in the diagnosis

  /// Tests whether any file was read, so that a report has something to rest on.
  bool has_readable_file() const;
};

/// The largest number of events of a trace that is read a second time for a page that should take hardly longer than a
/// diagnosis. It is some 100 MB of JSON.
inline constexpr std::uint64_t kMostProfiledEvents = 500'000;

/// The rules and settings that judge the files of a run, and the data that is wanted of them. Every command that shows
/// a verdict uses the same setup, so that no two pages disagree.
struct DiagnosisSetup {
  std::span<const Rule> rules = {};  ///< all_rules(), or none if only numbers are wanted
  ThresholdSettings thresholds = {};
  std::vector<Suppression> suppressions = {};  ///< findings to mark, which then do not count
  std::chrono::year_month_day today = {};      ///< the date that ends suppressions
  WorkOptions work = {};
  TraceNeeds needs = {};
  std::vector<Error> absent = {};        ///< why hosts of the run have no file; they count as files that cannot be read
  std::optional<std::string> host = {};  ///< the others are dropped before the diagnosis; see keep_host()
  DiagnosisScope scope = DiagnosisScope::report;
};

/// Reads the trace files of one run and diagnoses them together. Only one trace is in memory at a time, and the events
/// of TF1 timelines. A file that cannot be read does not stop the others.
Analysis diagnose_files(std::span<const std::string> files, const DiagnosisSetup& setup);

}  // namespace doctor
