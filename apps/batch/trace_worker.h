#pragma once

#include <string>
#include <string_view>

#include "command_line/options.h"
#include "diagnose/judgement.h"
#include "process/worker_pool.h"

namespace doctor {

/// What became of one trace of a batch.
struct DiagnosedTrace {
  int exit_code = 0;  ///< what `diagnose` would end with, see exit_code.h
  VerdictStatus status = VerdictStatus::inconclusive;
  std::string row;  ///< a line of NDJSON
};

/// As text that a worker process hands to its parent, and back.
std::string encode(const DiagnosedTrace& trace);
DiagnosedTrace decode_diagnosed_trace(std::string_view text);

/// Size of a file as stored; 0 if it cannot be told.
std::uint64_t stored_bytes(const std::string& path);

/// Diagnoses one trace on one thread. `input` is where it is read from, `path` what its row calls it. Says its SHA-256
/// first, which is dear for a large file, in case the diagnosis comes to no end.
DiagnosedTrace diagnose_trace(const Options& options, const std::string& input, const std::string& path,
                              const WorkerPool::Say& say);

}  // namespace doctor
