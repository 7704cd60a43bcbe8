#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnose/budget.h"
#include "fleet/trace_row.h"
#include "pipeline.h"

namespace doctor {

/// What became of one trace of a batch.
struct DiagnosedTrace {
  int exit_code = 0;  ///< what `diagnose` would end with, see exit_code.h
  VerdictStatus status = VerdictStatus::inconclusive;
  /// No budget is exceeded, and one could be evaluated on no pipeline.
  bool has_open_budget = false;
  std::string budgets;  ///< that are exceeded or open: a line each, with foreign text
  std::string beside;   ///< the other file of its process, which has one recording by either profiler; empty: none
  std::optional<TraceRow> row = std::nullopt;  ///< of both; nothing where the row of the other file is about this one
};

/// As text that a worker process hands to its parent.
std::string encode(const DiagnosedTrace& trace);

/// Reads it back, as what a stranger wrote: a trace may have taken the worker over. Nothing where it cannot be one.
std::optional<DiagnosedTrace> decode_diagnosed_trace(std::string_view text);

/// Whether an answer may be about this file: the other one lies in its folder and is called like a trace.
bool may_be_beside(const std::string& file, const std::string& other);

/// Size of a file as stored; 0 if it is not known.
std::uint64_t stored_bytes(const std::string& path);

/// A trace of a batch.
struct BatchInput {
  std::string input;  ///< where it is read from
  std::string path;   ///< what its row calls it
};

/// What a trace is judged by.
struct TraceGate {
  std::optional<Severity> fail_on;
  std::span<const Budget> budgets;
};

/// Diagnoses one trace, together with what JAX's profiler recorded of its process, where that lies beside it. What its
/// row says of the file itself is for the parent to fill in.
DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace);

}  // namespace doctor
