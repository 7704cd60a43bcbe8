#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnose/budget.h"
#include "fleet/trace_row.h"
#include "pipeline.h"

namespace doctor {

/// The result for one trace of a batch.
struct DiagnosedTrace {
  int exit_code = 0;  ///< the exit status that `diagnose` would have, see process/output.h
  VerdictStatus status = VerdictStatus::inconclusive;
  /// True if no budget is exceeded, and one could not be evaluated on any pipeline.
  bool has_open_budget = false;
  std::string budgets;  ///< exceeded and unevaluated budgets: a line each, with foreign text
  std::string beside;   ///< the file of the other profiler that recorded the same process; empty: none
  /// the row of both files; nullopt if the row of the other file covers this one
  std::optional<TraceRow> row = std::nullopt;
};

/// The result as text that a worker process hands to its parent.
std::string encode(const DiagnosedTrace& trace);

/// Reads the text back as untrusted input: a trace may have taken the worker over. nullopt if it cannot be a result.
std::optional<DiagnosedTrace> decode_diagnosed_trace(std::string_view text);

/// Tests whether an answer may be about this file: the other one lies in its folder and has the name of a trace.
bool may_be_beside(const std::string& file, const std::string& other);

/// Size of a file as stored; 0 if it is not known.
std::uint64_t stored_bytes(const std::string& path);

/// A trace of a batch.
struct BatchInput {
  std::string input;  ///< the path it is read from
  std::string path;   ///< the path in its row
};

/// What a trace is judged by.
struct TraceGate {
  std::optional<Severity> fail_on;
  std::span<const Budget> budgets;
};

/// Diagnoses one trace, together with JAX's recording of its process if that lies beside it. The parent fills in the
/// row's columns about the file itself.
DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace);

}  // namespace doctor
