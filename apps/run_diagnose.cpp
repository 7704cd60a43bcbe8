#include "commands.h"
#include "diagnose/budgets.h"
#include "report/report.h"

namespace doctor {
namespace {

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

ProblemReport problems_in(const Analysis& analysis, const DiagnosisOptions& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  return problems_of(analysis.measurements, analysis.diagnosis,
                     {.catalog = catalog,
                      .fail_on = options.fail_on,
                      .source = options.source_file,
                      .working_directory = working_directory()});
}

bool writes_html(const OutputOptions& output) {
  return std::ranges::any_of(output.targets,
                             [](const OutputTarget& target) { return target.format == OutputFormat::html; });
}

std::string text_of(const Analysis& analysis, const DiagnosisOptions& options) {
  TextStyle style = style_of(options.output, options.reading.traces);
  if (options.reading.host) style.rerun.front().insert(0, fmt::format("--host {} ", shell_word(*options.reading.host)));
  return render_text(analysis.measurements, analysis.diagnosis, style);
}

constexpr std::array<FormatRow<std::string(const Analysis& analysis, const DiagnosisOptions& options)>, 4>
    kDiagnosisFormats = {{{OutputFormat::text, text_of},
                          {OutputFormat::json,
                           [](const Analysis& analysis, const DiagnosisOptions&) {
                             return render_json(analysis.measurements, analysis.diagnosis);
                           }},
                          {OutputFormat::html,
                           [](const Analysis& analysis, const DiagnosisOptions& options) {
                             return render_diagnosis_html(analysis, options.reading.setup.thresholds);
                           }},
                          {OutputFormat::prometheus, [](const Analysis& analysis, const DiagnosisOptions&) {
                             return render_prometheus(analysis.measurements, analysis.diagnosis);
                           }}}};

std::string page_in_format(const Analysis& analysis, OutputFormat format, const DiagnosisOptions& options) {
  if (const auto* const own = find_row(kDiagnosisFormats, format)) return own->render(analysis, options);
  return render_problems(problems_in(analysis, options), format).value_or("");
}

}  // namespace

std::vector<OutputFormat> diagnosis_formats() {
  return with_problem_formats(kDiagnosisFormats);
}

Result<DiagnosisOptions> diagnosis_options(const Request& request) {
  ASSIGN_OR_RETURN(OutputOptions output, output_options(request));
  ASSIGN_OR_RETURN(std::optional<ProblemLocation> source, source_file_of(request));
  return DiagnosisOptions{reading_options(request), std::move(output), fail_on_of(request), std::move(source),
                          request.budgets};
}

TracePage diagnosis_page(const DiagnosisOptions& options) {
  return {
      .needs = writes_html(options.output) ? html_page_needs() : TraceNeeds(),
      .prepare =
          [&options](Analysis& analysis) {
            print_idle(analysis.idle_suppressions, options.output);
            analysis.diagnosis.settings_note = options.output.settings_note;
            analysis.diagnosis.budgets = check_budgets(analysis.measurements, analysis.diagnosis, options.budgets);
          },
      .render = [&options](const Analysis& analysis,
                           OutputFormat format) { return page_in_format(analysis, format, options); },
      .judge = [&options](
                   const Analysis& analysis) { return exit_code_of(outcome_of(analysis.diagnosis, options.fail_on)); }};
}

Result<int> run_diagnose(const Request& request) {
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const DiagnosisOptions options, diagnosis_options(request));
  return run_page(options.reading, options.output, diagnosis_page(options));
}

}  // namespace doctor
