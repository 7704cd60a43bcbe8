#include <filesystem>
#include <system_error>

#include "analysis.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "documents.h"
#include "exit_code.h"
#include "report/diagnosis_problems.h"
#include "report/problem_sinks.h"
#include "report/report.h"

namespace doctor {
namespace {

ProblemReport problems_in(const Analysis& analysis, const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  std::error_code ignored;  // without a working directory no file lies below it
  return problems_of(analysis.measurements, analysis.diagnosis,
                     {.catalog = catalog,
                      .fail_on = options.fail_on,
                      .source = options.source_file,
                      .working_directory = std::filesystem::current_path(ignored).string()});
}

Result<std::string> render(const Analysis& analysis, OutputFormat format, const Options& options) {
  switch (format) {
    case OutputFormat::json:
      return render_json(analysis.measurements, analysis.diagnosis);
    case OutputFormat::sarif:
      return render_sarif(problems_in(analysis, options));
    case OutputFormat::junit:
      return render_junit(problems_in(analysis, options));
    case OutputFormat::gitlab:
      return render_gitlab(problems_in(analysis, options));
    case OutputFormat::github:
      return render_github(problems_in(analysis, options));
    case OutputFormat::markdown:
      return render_markdown(problems_in(analysis, options));
    case OutputFormat::text:
    case OutputFormat::csv:
      break;
  }
  return render_text(analysis.measurements, analysis.diagnosis, style_of(options));
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

}  // namespace

int run_diagnose(const Options& options) {
  return run_page(
      options, {}, [&](const Analysis& analysis, OutputFormat format) { return render(analysis, format, options); },
      [&](const Analysis& analysis) { return exit_code_of(problems_in(analysis, options).outcome); });
}

}  // namespace doctor
