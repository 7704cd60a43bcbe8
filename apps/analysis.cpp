#include "analysis.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "current_work.h"
#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "exit_code.h"
#include "gate.h"
#include "io/trace_inputs.h"
#include "memory_limit.h"
#include "output.h"
#include "progress_bar.h"
#include "report/escape.h"
#include "timings.h"

namespace doctor {
namespace {

/// Analyses the files, with a progress bar where a person waits.
Analysis analyze_watched(const Options& options, const std::vector<std::string>& files, const std::vector<Rule>& rules,
                         const ThresholdSettings& settings, const AnalysisOptions& needed) {
  Progress& progress = current_work().progress;
  name_current_files(files);
  std::optional<ProgressBar> bar;
  if (wants_progress_bar(options, STDERR_FILENO)) bar.emplace(progress, files.size(), status_line());
  return analyze(files, rules, settings, {.threads = options.threads, .progress = &progress}, needed);
}

/// The documents to write, the main one first.
std::vector<OutputTarget> outputs_of(const Options& options) {
  std::vector<OutputTarget> targets = {{options.format, options.output}};
  targets.insert(targets.end(), options.more_outputs.begin(), options.more_outputs.end());
  return targets;
}

/// Finds the traces that the user named and analyses them. Files that could not be read beside others are told on
/// standard error. Errors: no trace, a limit that cannot be set, no file that could be read.
Result<Analysis> analyze_traces(const Options& options, const AnalysisOptions& needed) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_outputs(outputs_of(options), *files); !kept) return Unexpected(kept.error());
  // Only now: a directory that cannot be listed for want of memory would look like one that may not be listed.
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited)
    return Unexpected(limited.error());

  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  Analysis analysis = analyze_watched(options, *files, rules, in_force(options.settings.thresholds), needed);
  for (const Error& error : analysis.unreadable) {
    const bool is_last = &error == &analysis.unreadable.back();
    if (!analysis.has_readable_file() && is_last) return Unexpected(error);
    if (!options.quiet || !analysis.has_readable_file()) print_error(error);
  }
  if (options.command == Command::diagnose) apply_gate(options, analysis);
  return analysis;
}

/// Whether pages for a person get colours.
bool wants_color(const Options& options) {
  if (options.color != ColorChoice::automatic) return options.color == ColorChoice::always;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused =
      (no_color != nullptr && *no_color != '\0') || (terminal != nullptr && std::string_view(terminal) == "dumb");
  const bool is_to_terminal = (options.output.empty() || options.output == "-") && ::isatty(STDOUT_FILENO) != 0;
  return is_to_terminal && !is_refused;
}

/// Whether the program runs in a job of GitHub Actions, whose runner acts on lines of standard output.
bool is_on_github() {
  const char* const value = std::getenv("GITHUB_ACTIONS");
  return value != nullptr && std::string_view(value) == "true";
}

/// Writes one document. Errors: it cannot be made, or not be written. That a step has no summary is only told.
Result<void> write_document(const Analysis& analysis, const OutputTarget& target, const PageRenderer& render) {
  const Result<std::string> page = render(analysis, target.format);
  if (!page) return Unexpected(page.error());
  const bool is_in_log = target.is_standard_output() && target.format == OutputFormat::text && is_on_github();
  if (is_in_log) return write_output(without_workflow_commands(*page), target.path);
  if (!target.is_step_summary) return write_output(*page, target.path);
  if (const Result<void> appended = append_output(*page, target.path); !appended) {
    print_error({"the step has no summary: " + appended.error().what, target.path, {}, {}});
  }
  return {};
}

/// Writes all documents, whatever becomes of one. Says whether all were written; what was not is told on standard
/// error.
bool write_documents(const Analysis& analysis, const std::vector<OutputTarget>& targets, const PageRenderer& render) {
  bool are_written = true;
  for (const OutputTarget& target : targets) {
    const Result<void> written = write_document(analysis, target, render);
    if (written) continue;
    print_error(written.error());
    are_written = false;
  }
  return are_written;
}

}  // namespace

int run_page(const Options& options, const AnalysisOptions& needed, const PageRenderer& render,
             const std::function<int(const Analysis&)>& judge) {
  const Result<Analysis> analysis = analyze_traces(options, needed);
  if (!analysis) {
    print_error(analysis.error());
    return kExitFailure;
  }
  current_work().progress.stage = "render and write";
  const auto begin = std::chrono::steady_clock::now();
  const bool are_written = write_documents(*analysis, outputs_of(options), render);
  const auto rendered = std::chrono::steady_clock::now() - begin;
  if (options.timings) print_note(render_timings(*analysis, rendered, options.threads));
  return are_written ? judge(*analysis) : kExitFailure;
}

TextStyle style_of(const Options& options) {
  TextStyle style;
  style.color = wants_color(options);
  style.detail = options.quiet ? Detail::verdict : options.verbose ? Detail::full : Detail::screen;
  style.rerun = options.traces.front();
  for (std::size_t index = 1; index < options.traces.size(); ++index) style.rerun += " " + options.traces[index];
  return style;
}

}  // namespace doctor
