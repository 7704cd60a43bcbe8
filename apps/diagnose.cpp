#include <filesystem>
#include <system_error>

#include "analysis.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "gate.h"
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

}  // namespace

int run_diagnose(const Options& options) {
  return run_page(
      options, {}, [&](const Analysis& analysis, OutputFormat format) { return render(analysis, format, options); },
      [&](const Analysis& analysis) { return gate_exit_code(options, analysis); });
}

}  // namespace doctor
