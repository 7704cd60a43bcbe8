#include "analysis.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "current_work.h"
#include "diagnose/catalog.h"
#include "exit_code.h"
#include "io/trace_inputs.h"
#include "memory_limit.h"
#include "output.h"
#include "progress_bar.h"
#include "settings.h"
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

/// Finds the traces that the user named and analyses them. Files that could not be read beside others are told on
/// standard error. Errors: no trace, a wrong setting, a limit that cannot be set, no file that could be read.
Result<Analysis> analyze_traces(const Options& options, const AnalysisOptions& needed) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Result<ThresholdSettings> settings = parse_settings(options.settings, catalog);
  if (!settings) return Unexpected(settings.error());
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_output(options.output, *files); !kept) return Unexpected(kept.error());
  // Only now: a directory that cannot be listed for want of memory would look like one that may not be listed.
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited)
    return Unexpected(limited.error());

  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  Analysis analysis = analyze_watched(options, *files, rules, *settings, needed);
  for (const Error& error : analysis.unreadable) {
    const bool is_last = &error == &analysis.unreadable.back();
    if (!analysis.has_readable_file() && is_last) return Unexpected(error);
    if (!options.quiet || !analysis.has_readable_file()) print_error(error);
  }
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

}  // namespace

int run_page(const Options& options, const AnalysisOptions& needed,
             const std::function<Result<std::string>(const Analysis&)>& render,
             const std::function<int(const Analysis&)>& judge) {
  const Result<Analysis> analysis = analyze_traces(options, needed);
  if (!analysis) {
    print_error(analysis.error());
    return kExitFailure;
  }
  current_work().progress.stage = "render and write";
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::string> page = render(*analysis);
  const Result<void> written = page ? write_output(*page, options.output) : Unexpected(page.error());
  const auto rendered = std::chrono::steady_clock::now() - begin;
  if (options.timings) print_note(render_timings(*analysis, rendered, options.threads));
  if (!written) {
    print_error(written.error());
    return kExitFailure;
  }
  return judge(*analysis);
}

TextStyle style_of(const Options& options) {
  TextStyle style;
  style.color = wants_color(options);
  style.detail = options.quiet ? Detail::verdict : options.verbose ? Detail::full : Detail::screen;
  style.rerun = options.traces.front();
  for (std::size_t index = 1; index < options.traces.size(); ++index) style.rerun += " " + options.traces[index];
  return style;
}

bool is_without_verdict(const Analysis& analysis) {
  const VerdictStatus status = analysis.diagnosis.judgement.status;
  return status == VerdictStatus::no_input_pipeline || status == VerdictStatus::inconclusive;
}

}  // namespace doctor
