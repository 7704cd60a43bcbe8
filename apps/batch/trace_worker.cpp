#include <sys/stat.h>

#include <cstring>

#include "batch/batch.h"
#include "diagnose/budgets.h"
#include "diagnose/judgement_words.h"
#include "documents.h"
#include "io/trace_folder.h"
#include "process/output.h"
#include "report/problem.h"
#include "report/report.h"
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

constexpr std::size_t kHead = 3;
constexpr unsigned kStatusCount = 4;

/// Takes a text off, which its length stands before; nothing where it is cut off.
std::optional<std::string_view> take_part(std::string_view& text) {
  std::uint64_t length = 0;
  if (text.size() < sizeof(length)) return std::nullopt;
  std::memcpy(&length, text.data(), sizeof(length));
  text.remove_prefix(sizeof(length));
  if (length > text.size()) return std::nullopt;
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(part.size());
  return part;
}

/// False where it is not one line with a row, or says something else than the rest of the answer.
bool take_row(std::string_view line, DiagnosedTrace& trace) {
  if (line.find('\n') != line.size() - 1) return false;
  Result<TraceRow> row = parse_row(line);
  if (!row) return false;
  trace.row = *std::move(row);
  return trace.row->verdict == (trace.exit_code == kExitFailure ? "" : to_word(trace.status));
}

}  // namespace

// One program writes and reads it, so the bytes of a number are in its order.

std::string encode(const DiagnosedTrace& trace) {
  const char head[kHead] = {static_cast<char>(trace.exit_code), static_cast<char>(trace.status),
                            static_cast<char>(trace.has_open_budget)};
  std::string text(head, sizeof(head));
  for (const std::string& part : {trace.budgets, trace.beside, trace.row ? render_row(*trace.row) : std::string()}) {
    const std::uint64_t length = part.size();
    text.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(part);
  }
  return text;
}

std::optional<DiagnosedTrace> decode_diagnosed_trace(std::string_view text) {
  if (text.size() < kHead) return std::nullopt;
  const auto exit_code = static_cast<unsigned char>(text[0]);
  const auto status = static_cast<unsigned char>(text[1]);
  if (exit_code > kExitNothing || status >= kStatusCount || static_cast<unsigned char>(text[2]) > 1)
    return std::nullopt;
  DiagnosedTrace trace = {exit_code, VerdictStatus{status}, text[2] != 0, {}, {}};
  text.remove_prefix(kHead);
  const std::optional<std::string_view> budgets = take_part(text);
  const std::optional<std::string_view> beside = take_part(text);
  const std::optional<std::string_view> row = take_part(text);
  if (!budgets || !beside || !row || !text.empty()) return std::nullopt;
  trace.budgets = *budgets;
  trace.beside = *beside;
  if (!budgets->empty() && budgets->back() != '\n') return std::nullopt;
  if (row->empty()) return beside->empty() ? std::nullopt : std::optional(std::move(trace));
  return take_row(*row, trace) ? std::optional(std::move(trace)) : std::nullopt;
}

bool may_be_beside(const std::string& file, const std::string& other) {
  const std::size_t end_of_folder = file.rfind('/') + 1;  // 0 where the file is in this one
  return other != file && other.rfind('/') + 1 == end_of_folder &&
         other.compare(0, end_of_folder, file, 0, end_of_folder) == 0 &&
         as_trace_file(std::string_view(other).substr(end_of_folder)).has_value();
}

std::uint64_t stored_bytes(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace) {
  const std::vector<std::string> files = pairs_beside().find(trace.input, setup.work);
  if (files.front() != trace.input) {
    DiagnosedTrace other;
    other.beside = files.front();
    return other;
  }
  Analysis analysis = diagnose_files(files, setup);
  name_inputs(analysis.unreadable, trace);
  analysis.diagnosis.budgets = check_budgets(analysis.measurements, analysis.diagnosis, gate.budgets);

  DiagnosedTrace diagnosed;
  if (files.size() > 1) diagnosed.beside = files.back();
  diagnosed.status = analysis.diagnosis.judgement.status;
  diagnosed.exit_code =
      analysis.has_readable_file() ? exit_code_of(outcome_of(analysis.diagnosis, gate.fail_on)) : kExitFailure;
  if (analysis.has_readable_file()) {
    diagnosed.has_open_budget = outcome_of(analysis.diagnosis.budgets) == BudgetOutcome::unknown;
    diagnosed.budgets = describe_budgets(analysis);
  }
  diagnosed.row = row_of({}, analysis.measurements, analysis.diagnosis, analysis.unreadable);
  return diagnosed;
}

}  // namespace doctor
