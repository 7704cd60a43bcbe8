#include "documents.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "process/exit_code.h"
#include "process/output.h"
#include "process/status_line.h"
#include "report/problem_sinks.h"
#include "text/escape.h"

namespace doctor {
namespace {

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
Result<void> write_document(const OutputTarget& target, const DocumentRenderer& render) {
  const Result<std::string> page = render(target.format);
  if (!page) return Unexpected(page.error());
  const bool is_in_log = target.is_standard_output() && target.format == OutputFormat::text && is_on_github();
  if (is_in_log) return write_output(without_workflow_commands(*page), target.path);
  if (!target.is_step_summary) return write_output(*page, target.path);
  if (const Result<void> appended = append_output(*page, target.path); !appended) {
    print_error({"the step has no summary: " + appended.error().what, target.path, {}, {}});
  }
  return {};
}

}  // namespace

std::vector<OutputTarget> outputs_of(const Options& options) {
  std::vector<OutputTarget> targets = {{options.format, options.output}};
  targets.insert(targets.end(), options.more_outputs.begin(), options.more_outputs.end());
  return targets;
}

bool write_documents(const Options& options, const DocumentRenderer& render) {
  bool are_written = true;
  for (const OutputTarget& target : outputs_of(options)) {
    const Result<void> written = write_document(target, render);
    if (written) continue;
    print_error(written.error());
    are_written = false;
  }
  return are_written;
}

std::optional<std::string> render_problems(const ProblemReport& problems, OutputFormat format) {
  switch (format) {
    case OutputFormat::sarif:
      return render_sarif(problems);
    case OutputFormat::junit:
      return render_junit(problems);
    case OutputFormat::gitlab:
      return render_gitlab(problems);
    case OutputFormat::github:
      return render_github(problems);
    case OutputFormat::markdown:
      return render_markdown(problems);
    case OutputFormat::text:
    case OutputFormat::json:
    case OutputFormat::csv:
      break;
  }
  return std::nullopt;
}

int exit_code_of(ProblemOutcome outcome) {
  switch (outcome) {
    case ProblemOutcome::passed:
      return kExitClean;
    case ProblemOutcome::failed:
      return kExitFinding;
    case ProblemOutcome::nothing_to_judge:
      break;
  }
  return kExitNothing;
}

PageWidth page_width(const Options& options) {
  constexpr std::size_t kNarrowest = 40;  // less is no page
  const std::vector<OutputTarget> targets = outputs_of(options);
  const auto text = std::find_if(targets.begin(), targets.end(),
                                 [](const OutputTarget& target) { return target.format == OutputFormat::text; });
  const bool is_to_terminal = text != targets.end() && text->is_standard_output() && ::isatty(STDOUT_FILENO) != 0;
  const PageWidth columns = is_to_terminal ? columns_of(STDOUT_FILENO) : columns_of_environment();
  return columns ? std::max(*columns, kNarrowest) : columns;
}

TextStyle style_of(const Options& options) {
  TextStyle style;
  style.color = wants_color(options);
  style.width = page_width(options);
  style.detail = options.quiet ? Detail::verdict : options.verbose ? Detail::full : Detail::screen;
  style.rerun = shell_word(options.traces.front());
  for (std::size_t index = 1; index < options.traces.size(); ++index) {
    style.rerun += " " + shell_word(options.traces[index]);
  }
  return style;
}

}  // namespace doctor
