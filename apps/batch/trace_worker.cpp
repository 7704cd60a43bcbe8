#include "batch/trace_worker.h"

#include <sys/stat.h>

#include <cstring>
#include <utility>
#include <vector>

#include "diagnose/budgets.h"
#include "documents.h"
#include "fleet/trace_row.h"
#include "io/trace_folder.h"
#include "process/exit_code.h"
#include "report/diagnosis_problems.h"
#include "report/gate_text.h"
#include "trace/recording_pairs.h"

namespace doctor {
namespace {

/// Made once for all traces of a worker.
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

/// Those that are exceeded or were evaluated on no pipeline.
std::string describe_budgets(const Analysis& analysis) {
  std::string lines;
  for (const BudgetResult& result : analysis.diagnosis.budgets) {
    if (result.value && !result.is_exceeded()) continue;
    lines += describe_budget(analysis.measurements, analysis.diagnosis.judgement, result) + "\n";
  }
  return lines;
}

}  // namespace

std::string encode(const DiagnosedTrace& trace) {
  const bool has_row = trace.belongs_to.empty();
  const char head[] = {static_cast<char>(trace.exit_code), static_cast<char>(trace.status), has_row ? '1' : '0',
                       static_cast<char>(trace.has_open_budget)};
  // One program writes and reads it, so the bytes of a number are in its order.
  const std::uint64_t length = trace.budgets.size();
  char size[sizeof(length)];
  std::memcpy(size, &length, sizeof(length));
  return std::string(head, sizeof(head)) + std::string(size, sizeof(size)) + trace.budgets +
         (has_row ? trace.row : trace.belongs_to);
}

DiagnosedTrace decode_diagnosed_trace(std::string_view text) {
  constexpr std::size_t kHead = 4;
  std::uint64_t length = 0;
  std::memcpy(&length, text.data() + kHead, sizeof(length));
  const std::string_view rest = text.substr(kHead + sizeof(length));
  DiagnosedTrace trace;
  trace.exit_code = static_cast<unsigned char>(text[0]);
  trace.status = static_cast<VerdictStatus>(text[1]);
  trace.has_open_budget = text[3] != 0;
  trace.budgets = rest.substr(0, length);
  (text[2] == '1' ? trace.row : trace.belongs_to) = rest.substr(length);
  return trace;
}

std::uint64_t stored_bytes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace,
                              const WorkerPool::Notify& notify) {
  const std::string read = file_to_read(trace.input);
  RowFile file = {trace.path, stored_bytes(read), sha256_of_file(read).value_or("")};
  notify(file.sha256);
  const std::vector<std::string> files = pairs_beside().find(trace.input, setup.work);
  if (files.front() != trace.input) {
    DiagnosedTrace other;
    other.belongs_to = files.front();
    return other;
  }
  if (files.size() > 1) file.bytes += stored_bytes(files.back());
  Analysis analysis = diagnose_files(files, setup);
  name_inputs(analysis.unreadable, trace);
  analysis.diagnosis.budgets = check_budgets(analysis.measurements, analysis.diagnosis, gate.budgets);

  DiagnosedTrace diagnosed;
  diagnosed.status = analysis.diagnosis.judgement.status;
  diagnosed.exit_code =
      analysis.has_readable_file() ? exit_code_of(outcome_of(analysis.diagnosis, gate.fail_on)) : kExitFailure;
  if (analysis.has_readable_file()) {
    diagnosed.has_open_budget = outcome_of(analysis.diagnosis.budgets) == BudgetOutcome::unknown;
    diagnosed.budgets = describe_budgets(analysis);
  }
  diagnosed.row = render_row(row_of(std::move(file), analysis.measurements, analysis.diagnosis, analysis.unreadable));
  return diagnosed;
}

}  // namespace doctor
