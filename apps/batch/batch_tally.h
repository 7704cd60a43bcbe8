#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "batch/trace_worker.h"

namespace doctor {

/// The totals of a batch so far.
struct BatchTally {
  std::array<std::uint64_t, 4> verdicts{};  ///< indexed by VerdictStatus, for traces that could be read
  std::uint64_t traces = 0;                 ///< traces with a row
  std::uint64_t with_findings = 0;          ///< traces with a finding at or above --fail-on, or with an exceeded budget
  std::uint64_t with_open_budgets = 0;      ///< traces with a budget that could not be evaluated
  std::uint64_t unreadable = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t out_of_memory = 0;
  std::uint64_t crashed = 0;
  std::uint64_t skipped = 0;             ///< traces that were in the output already
  std::uint64_t beside_another = 0;      ///< traces of a process whose row is that of another file
  std::uint64_t unreadable_folders = 0;  ///< folders without a row
  std::uint64_t unfinished = 0;          ///< for `watch`: traces that were still being written at the end
  int interrupted_by = 0;                ///< the signal that ended the batch early; 0: none

  void add(const DiagnosedTrace& trace);

  /// Traces without a diagnosis.
  std::uint64_t errors() const { return unreadable + timed_out + out_of_memory + crashed; }
};

/// The exit status: kExitFailure if anything could not be diagnosed, else kExitFinding if anything was found, else
/// kExitNothing if no trace showed an input pipeline, or if a budget could not be evaluated on one that did.
int exit_code_of(const BatchTally& tally);

/// "10,000 traces in 55 s (181 a second): 4,210 input-bound, …": the closing lines. `duration` is that of the work;
/// nullopt if there was mostly none.
std::string render_summary(const BatchTally& tally, std::optional<std::chrono::nanoseconds> duration);

/// The line that a terminal shows meanwhile, of at most `width` characters. `total` is the number of traces, if it is
/// known.
std::string batch_progress_line(const BatchTally& tally, std::optional<std::uint64_t> total,
                                std::chrono::nanoseconds duration, std::size_t width);

}  // namespace doctor
