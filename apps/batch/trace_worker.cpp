#include "batch/trace_worker.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "diagnose/catalog.h"
#include "documents.h"
#include "fleet/trace_row.h"
#include "process/exit_code.h"
#include "report/diagnosis_problems.h"
#include "trace/recording_pairs.h"

namespace doctor {
namespace {

// Made once for all traces of a worker.

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> kEntries = rule_catalog();
  return kEntries;
}

PairsBeside& pairs_beside() {
  static PairsBeside found;
  return found;
}

/// The name under which standard input was stored means nothing to a reader of the row.
void name_inputs(std::vector<Error>& errors, const BatchInput& trace) {
  for (Error& error : errors) {
    if (error.where == trace.input) error.where = trace.path;
  }
}

}  // namespace

std::string encode(const DiagnosedTrace& trace) {
  const bool has_row = trace.belongs_to.empty();
  const char head[] = {static_cast<char>(trace.exit_code), static_cast<char>(trace.status), has_row ? '1' : '0'};
  return std::string(head, sizeof(head)) + (has_row ? trace.row : trace.belongs_to);
}

DiagnosedTrace decode_diagnosed_trace(std::string_view text) {
  DiagnosedTrace trace = {text[0], static_cast<VerdictStatus>(text[1]), {}};
  (text[2] == '1' ? trace.row : trace.belongs_to) = text.substr(3);
  return trace;
}

std::uint64_t stored_bytes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, std::optional<Severity> fail_on, const BatchInput& trace,
                              const WorkerPool::Notify& notify) {
  RowFile file = {trace.path, stored_bytes(trace.input), sha256_of_file(trace.input).value_or("")};
  notify(file.sha256);
  const std::vector<std::string> files = pairs_beside().find(trace.input, setup.work);
  if (files.front() != trace.input) return {.row = {}, .belongs_to = files.front()};
  if (files.size() > 1) file.bytes += stored_bytes(files.back());
  Analysis analysis = diagnose_files(files, setup);
  name_inputs(analysis.unreadable, trace);

  DiagnosedTrace diagnosed;
  diagnosed.status = analysis.diagnosis.judgement.status;
  const auto outcome = [&] {
    return problems_of(analysis.measurements, analysis.diagnosis, {.catalog = catalog(), .fail_on = fail_on}).outcome;
  };
  diagnosed.exit_code = analysis.has_readable_file() ? exit_code_of(outcome()) : kExitFailure;
  diagnosed.row = render_row(row_of(std::move(file), analysis.measurements, analysis.diagnosis, analysis.unreadable));
  return diagnosed;
}

}  // namespace doctor
