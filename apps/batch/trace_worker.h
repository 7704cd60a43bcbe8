#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnose/budget.h"
#include "pipeline.h"
#include "process/worker_pool.h"

namespace doctor {

/// What became of one trace of a batch.
struct DiagnosedTrace {
  int exit_code = 0;  ///< what `diagnose` would end with, see exit_code.h
  VerdictStatus status = VerdictStatus::inconclusive;
  /// No budget is exceeded, and one could be evaluated on no pipeline.
  bool has_open_budget = false;
  std::string budgets;          ///< that are exceeded or open: a line each, with foreign text
  std::string row;              ///< a line of NDJSON; empty where another file's row is about this one as well
  std::string belongs_to = {};  ///< that file: it has what TensorFlow's profiler recorded of this one's process
};

/// As text that a worker process hands to its parent, and back.
std::string encode(const DiagnosedTrace& trace);
DiagnosedTrace decode_diagnosed_trace(std::string_view text);

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

/// Diagnoses one trace, together with what JAX's profiler recorded of its process, where that lies beside it. Notes its
/// SHA-256 first, which is costly for a large file, in case the diagnosis does not end.
DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace,
                              const WorkerPool::Notify& notify);

}  // namespace doctor
