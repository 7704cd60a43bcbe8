#include "commands.h"
#include "diagnose/catalog.h"
#include "exit_code.h"
#include "output.h"
#include "report/report.h"
#include "settings.h"

namespace doctor {
namespace {

int write_page(const Result<std::string>& page, const Options& options) {
  const Result<void> written = page ? write_output(*page, options.output) : Unexpected(page.error());
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

Result<std::string> rule_page(const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Result<const CatalogEntry*> entry = find_rule(options.rule, catalog);
  if (!entry) return Unexpected(entry.error());
  const Result<ThresholdSettings> settings = parse_settings(options.settings, catalog);
  if (!settings) return Unexpected(settings.error());
  if (options.format == OutputFormat::json) return render_rules_json({*entry, 1}, *settings, /*with_pages=*/true);
  return render_rule_text(**entry, *settings);
}

}  // namespace

int run_explain(const Options& options) {
  return write_page(rule_page(options), options);
}

int run_rules(const Options& options) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  return write_page(options.format == OutputFormat::json ? render_rules_json(catalog, {}, /*with_pages=*/false)
                                                         : render_rules_text(catalog),
                    options);
}

}  // namespace doctor
