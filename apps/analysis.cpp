#include "analysis.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "diagnose/catalog.h"
#include "exit_code.h"
#include "io/trace_inputs.h"
#include "output.h"
#include "settings.h"

namespace doctor {
namespace {

double to_milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Finds the traces that the user named and analyses them. Files that could not be read beside others are told on
/// standard error. Errors: no trace, a wrong setting, no file that could be read.
Result<Analysis> analyze_traces(const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Result<ThresholdSettings> settings = parse_settings(options.settings, catalog);
  if (!settings) return Unexpected(settings.error());
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_output(options.output, *files); !kept) return Unexpected(kept.error());

  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  Analysis analysis = analyze(*files, rules, *settings);
  for (const Error& error : analysis.unreadable) {
    const bool is_last = &error == &analysis.unreadable.back();
    if (!analysis.has_readable_file() && is_last) return Unexpected(error);
    if (!options.quiet || !analysis.has_readable_file()) print_error(error);
  }
  return analysis;
}

/// Every stage and rule, to standard error. `rendered` is the time since the analysis ended.
void print_timings(const Analysis& analysis, std::chrono::nanoseconds rendered) {
  std::string text;
  for (const StageTiming& timing : analysis.timings) {
    text += fmt::format("{:<32}{:>10.3f} ms\n", timing.stage, to_milliseconds(timing.duration));
  }
  for (const RuleTiming& timing : analysis.diagnosis.timings) {
    text += fmt::format("  {:<30}{:>10.3f} ms\n", timing.rule, to_milliseconds(timing.duration));
  }
  print_note(text + fmt::format("{:<32}{:>10.3f} ms\n", "render and write", to_milliseconds(rendered)));
}

}  // namespace

int run_page(const Options& options, const std::function<std::string(const Analysis&)>& render,
             const std::function<int(const Analysis&)>& judge) {
  const Result<Analysis> analysis = analyze_traces(options);
  if (!analysis) {
    print_error(analysis.error());
    return kExitFailure;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<void> written = write_output(render(*analysis), options.output);
  if (options.timings) print_timings(*analysis, std::chrono::steady_clock::now() - begin);
  if (!written) {
    print_error(written.error());
    return kExitFailure;
  }
  return judge(*analysis);
}

bool wants_color(const Options& options) {
  if (options.color != ColorChoice::automatic) return options.color == ColorChoice::always;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused =
      (no_color != nullptr && *no_color != '\0') || (terminal != nullptr && std::string_view(terminal) == "dumb");
  const bool is_to_terminal = (options.output.empty() || options.output == "-") && ::isatty(STDOUT_FILENO) != 0;
  return is_to_terminal && !is_refused;
}

bool is_without_verdict(const Analysis& analysis) {
  const VerdictStatus status = analysis.diagnosis.judgement.status;
  return status == VerdictStatus::no_input_pipeline || status == VerdictStatus::inconclusive;
}

}  // namespace doctor
