#include <fmt/format.h>

#include "analysis.h"
#include "commands.h"
#include "diagnose/budgets.h"
#include "diagnose/catalog.h"
#include "process/output.h"
#include "report/diagnosis_problems.h"
#include "report/report.h"
#include "text/escape.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

struct DiagnoseOptions {
  ReadingOptions reading;
  OutputOptions output;
  std::optional<Severity> fail_on;
  std::optional<ProblemLocation> source_file;
  std::vector<Budget> budgets;
};

Result<DiagnoseOptions> diagnose_options(const Request& request) {
  Result<ReadingOptions> reading = reading_options_with_traces(request);
  if (!reading) return Unexpected(reading.error());
  Result<OutputOptions> output =
      output_options(request, {OutputFormat::text, OutputFormat::json}, /*reports_problems=*/true);
  if (!output) return Unexpected(output.error());
  Result<std::optional<ProblemLocation>> source = source_file_of(request);
  if (!source) return Unexpected(source.error());
  return DiagnoseOptions{*std::move(reading), *std::move(output), fail_on_of(request), *std::move(source),
                         request.budgets};
}

/// Suppressions that expired, and with --verbose those that fit nothing.
void print_idle(const IdleSuppressions& idle, const OutputOptions& output) {
  for (const Suppression& suppression : idle.expired) {
    if (output.quiet) break;
    print_error({"the suppression of " + suppression.rule + " expired on " + to_date(*suppression.expires),
                 suppression.source,
                 {},
                 "renew it or remove it"});
  }
  for (const Suppression& suppression : idle.unused) {
    if (!output.verbose) break;
    print_error({"the suppression of " + suppression.rule + " fits no finding", suppression.source, {}, {}});
  }
}

ProblemReport problems_in(const Analysis& analysis, const DiagnoseOptions& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  return problems_of(analysis.measurements, analysis.diagnosis,
                     {.catalog = catalog,
                      .fail_on = options.fail_on,
                      .source = options.source_file,
                      .working_directory = working_directory()});
}

std::string diagnosis_page(const Analysis& analysis, OutputFormat format, const DiagnoseOptions& options) {
  if (format == OutputFormat::json) return render_json(analysis.measurements, analysis.diagnosis);
  if (format != OutputFormat::text) return render_problems(problems_in(analysis, options), format).value_or("");
  TextStyle style = style_of(options.output, options.reading.traces);
  if (options.reading.host) style.rerun.insert(0, fmt::format("--host {} ", shell_word(*options.reading.host)));
  return render_text(analysis.measurements, analysis.diagnosis, style);
}

}  // namespace

int run_diagnose(const Request& request) {
  const Result<DiagnoseOptions> options = diagnose_options(request);
  if (!options) return fail_with(options.error());
  return run_page(
      options->reading, options->output,
      {.needed = {},
       .prepare =
           [&](Analysis& analysis) {
             print_idle(analysis.idle_suppressions, options->output);
             analysis.diagnosis.budgets = check_budgets(analysis.measurements, analysis.diagnosis, options->budgets);
           },
       .render = [&](const Analysis& analysis,
                     OutputFormat format) { return diagnosis_page(analysis, format, *options); },
       .judge = [&](const Analysis& analysis) { return exit_code_of(problems_in(analysis, *options).outcome); }});
}

}  // namespace doctor
