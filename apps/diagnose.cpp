#include <algorithm>

#include "analysis.h"
#include "commands.h"
#include "exit_code.h"
#include "report/report.h"

namespace doctor {
namespace {

int exit_code_of(const Analysis& analysis, const Options& options) {
  if (is_without_verdict(analysis)) return kExitNothing;
  const std::vector<Finding>& findings = analysis.diagnosis.findings;
  const bool has_failed = options.fail_on && std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                            return finding.severity >= *options.fail_on;
                          });
  return has_failed ? kExitFinding : kExitClean;
}

}  // namespace

int run_diagnose(const Options& options) {
  const auto render = [&](const Analysis& analysis) -> Result<std::string> {
    return options.format == OutputFormat::json
               ? render_json(analysis.measurements, analysis.diagnosis)
               : render_text(analysis.measurements, analysis.diagnosis, style_of(options));
  };
  return run_page(options, {}, render, [&](const Analysis& analysis) { return exit_code_of(analysis, options); });
}

}  // namespace doctor
