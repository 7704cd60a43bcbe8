#include "analysis.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "documents.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/explanation_page.h"
#include "report/report.h"
#include "report/rules_page.h"

namespace doctor {
namespace {

int write_page(const Result<std::string>& page, const Options& options) {
  const Result<void> written = page ? write_output(*page, options.output) : Unexpected(page.error());
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

Result<std::string> rule_page(const Options& options) {
  const std::vector<CatalogEntry> catalog = settable_catalog();
  const Result<const CatalogEntry*> entry = find_rule(options.rule, catalog);
  if (!entry) return Unexpected(entry.error());
  const ThresholdSettings settings = in_force(options.settings.thresholds);
  if (options.format == OutputFormat::json) return render_rules_json({*entry, 1}, settings, /*with_pages=*/true);
  return render_rule_text(**entry, settings, page_width(options));
}

int explain_traces(const Options& options, const Rule& rule) {
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    return format == OutputFormat::json
               ? render_explanation_json(rule, analysis.measurements, analysis.diagnosis)
               : render_explanation_text(rule, analysis.measurements, analysis.diagnosis, style_of(options));
  };
  // A rule is explained, nothing is judged: findings do not count here.
  return run_page(options, {}, render, [](const Analysis& analysis) {
    return shows_tf_data(analysis.measurements) ? kExitClean : kExitNothing;
  });
}

int explain_about_traces(const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Result<const CatalogEntry*> entry = find_rule(options.rule, catalog);
  if (entry) return explain_traces(options, (*entry)->rule);
  print_error(entry.error());
  return kExitFailure;
}

}  // namespace

int run_explain(const Options& options) {
  return options.traces.empty() ? write_page(rule_page(options), options) : explain_about_traces(options);
}

int run_rules(const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  return write_page(options.format == OutputFormat::json ? render_rules_json(catalog, {}, /*with_pages=*/false)
                                                         : render_rules_text(catalog, page_width(options)),
                    options);
}

}  // namespace doctor
