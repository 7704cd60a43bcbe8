#include "analysis.h"

#include <unistd.h>

#include <chrono>
#include <optional>

#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "documents.h"
#include "gate.h"
#include "io/trace_inputs.h"
#include "process/current_work.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "process/progress_bar.h"
#include "process/timings.h"

namespace doctor {
namespace {

/// Finds the traces that the user named and analyses them. Files that could not be read beside others are told on
/// standard error. Errors: no trace, a limit that cannot be set, no file that could be read.
Result<Analysis> analyze_traces(const Options& options, const AnalysisOptions& needed) {
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_outputs(outputs_of(options), *files); !kept) return Unexpected(kept.error());
  // Only now: a directory that cannot be listed for want of memory would look like one that may not be listed.
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited)
    return Unexpected(limited.error());

  Analysis analysis = analyze_watched(options, *files, needed);
  for (const Error& error : analysis.unreadable) {
    const bool is_last = &error == &analysis.unreadable.back();
    if (!analysis.has_readable_file() && is_last) return Unexpected(error);
    if (!options.quiet || !analysis.has_readable_file()) print_error(error);
  }
  if (options.command == Command::diagnose) apply_gate(options, analysis);
  return analysis;
}

}  // namespace

DiagnosisSetup diagnosis_setup(const Options& options) {
  return {.rules = all_rules(),
          .thresholds = in_force(options.settings.thresholds),
          .suppressions = options.settings.suppressions,
          .today = options.today,
          .work = {.threads = options.threads}};
}

Analysis analyze_watched(const Options& options, const std::vector<std::string>& files, const AnalysisOptions& needed) {
  Progress& progress = current_work().progress;
  name_current_files(files);
  std::optional<ProgressBar> bar;
  if (wants_progress_bar(options, STDERR_FILENO)) bar.emplace(progress, files.size(), status_line());
  DiagnosisSetup setup = diagnosis_setup(options);
  setup.work.progress = &progress;
  setup.needed = needed;
  return diagnose_files(files, setup);
}

int run_page(const Options& options, const AnalysisOptions& needed, const PageRenderer& render,
             const std::function<int(const Analysis&)>& judge) {
  const Result<Analysis> analysis = analyze_traces(options, needed);
  if (!analysis) {
    print_error(analysis.error());
    return kExitFailure;
  }
  current_work().progress.stage = "render and write";
  const auto begin = std::chrono::steady_clock::now();
  const bool are_written = write_documents(options, [&](OutputFormat format) { return render(*analysis, format); });
  const auto rendered = std::chrono::steady_clock::now() - begin;
  if (options.timings) print_note(render_timings(*analysis, rendered, options.threads));
  return are_written ? judge(*analysis) : kExitFailure;
}

}  // namespace doctor
