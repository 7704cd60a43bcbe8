#include <filesystem>
#include <system_error>

#include "analysis.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "documents.h"
#include "report/diagnosis_problems.h"
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

std::string render(const Analysis& analysis, OutputFormat format, const Options& options) {
  if (format == OutputFormat::text) return render_text(analysis.measurements, analysis.diagnosis, style_of(options));
  if (format == OutputFormat::json) return render_json(analysis.measurements, analysis.diagnosis);
  return render_problems(problems_in(analysis, options), format).value_or("");
}

}  // namespace

int run_diagnose(const Options& options) {
  return run_page(
      options, {}, [&](const Analysis& analysis, OutputFormat format) { return render(analysis, format, options); },
      [&](const Analysis& analysis) { return exit_code_of(problems_in(analysis, options).outcome); });
}

}  // namespace doctor
