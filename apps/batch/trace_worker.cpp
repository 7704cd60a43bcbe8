#include "batch/trace_worker.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "analysis.h"
#include "diagnose/catalog.h"
#include "documents.h"
#include "fleet/trace_row.h"
#include "pipeline.h"
#include "process/exit_code.h"
#include "report/diagnosis_problems.h"

namespace doctor {
namespace {

/// Made once for all traces of a worker.
const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> kEntries = rule_catalog();
  return kEntries;
}

/// What standard input was stored under says nothing to a reader of the row.
void name_inputs(std::vector<Error>& errors, const std::string& input, const std::string& path) {
  for (Error& error : errors) {
    if (error.where == input) error.where = path;
  }
}

}  // namespace

std::string encode(const DiagnosedTrace& trace) {
  const char head[] = {static_cast<char>(trace.exit_code), static_cast<char>(trace.status)};
  return std::string(head, sizeof(head)) + trace.row;
}

DiagnosedTrace decode_diagnosed_trace(std::string_view text) {
  return {text[0], static_cast<VerdictStatus>(text[1]), std::string(text.substr(2))};
}

std::uint64_t stored_bytes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

DiagnosedTrace diagnose_trace(const Options& options, const std::string& input, const std::string& path,
                              const WorkerPool::Say& say) {
  RowFile file = {path, stored_bytes(input), sha256_of_file(input).value_or("")};
  say(file.sha256);
  DiagnosisSetup setup = diagnosis_setup(options);
  setup.work.threads = 1;
  Analysis analysis = diagnose_files({&input, 1}, setup);
  name_inputs(analysis.unreadable, input, path);

  DiagnosedTrace diagnosed;
  diagnosed.status = analysis.diagnosis.judgement.status;
  diagnosed.exit_code = analysis.has_readable_file()
                            ? exit_code_of(problems_of(analysis.measurements, analysis.diagnosis,
                                                       {.catalog = catalog(), .fail_on = options.fail_on})
                                               .outcome)
                            : kExitFailure;
  diagnosed.row = render_row(row_of(std::move(file), analysis.measurements, analysis.diagnosis, analysis.unreadable));
  return diagnosed;
}

}  // namespace doctor
