#include "command_line/command_line.h"
#include "commands.h"
#include "report/rule_pages.h"

namespace doctor {
namespace {

/// How a rule is explained: its page, and why it fired on a trace or did not.
struct ExplanationFormat {
  OutputFormat format;
  std::string (*page)(const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth width);
  std::string (*reasons)(const Rule& rule, const Analysis& analysis, const TextStyle& style);
};

constexpr std::array<ExplanationFormat, 2> kExplanationFormats = {
    {{OutputFormat::text, render_rule_text,
      [](const Rule& rule, const Analysis& analysis, const TextStyle& style) {
        return render_explanation_text(rule, analysis.measurements, analysis.diagnosis, style);
      }},
     {OutputFormat::json,
      [](const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth) {
        return to_text(rules_json({&entry, 1}, settings, /*with_pages=*/true));
      },
      [](const Rule& rule, const Analysis& analysis, const TextStyle&) {
        return to_text(explanation_json(rule, analysis.measurements, analysis.diagnosis));
      }}}};

using RuleListRenderer = std::string(std::span<const CatalogEntry> catalog, PageWidth width);

constexpr std::array<FormatRow<RuleListRenderer>, 2> kRuleListFormats = {
    {{OutputFormat::text, render_rules_text},
     {OutputFormat::json, [](std::span<const CatalogEntry> catalog, PageWidth) {
        return to_text(rules_json(catalog, {}, /*with_pages=*/false));
      }}}};

Result<std::string> rule_page(const Request& request, const std::string& name, OutputFormat format, PageWidth width) {
  const std::vector<CatalogEntry> catalog = settable_catalog();
  ASSIGN_OR_RETURN(const CatalogEntry* const entry, find_rule(name, catalog));
  const ThresholdSettings settings = in_force(request.thresholds);
  return row_of(kExplanationFormats, format).page(*entry, settings, width);
}

Result<int> explain_traces(const Request& request, const OutputOptions& output, const Rule& rule) {
  const ReadingOptions reading = reading_options(request);
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    return row_of(kExplanationFormats, format).reasons(rule, analysis, style_of(output, reading.traces));
  };
  // A rule is explained, nothing is judged: findings do not count here.
  const auto judge = [](const Analysis& analysis) {
    return analysis.measurements.shows_tf_data() ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {{}, {}, render, judge});
}

}  // namespace

std::vector<OutputFormat> explanation_formats() {
  return formats_in(kExplanationFormats);
}

std::vector<OutputFormat> rule_list_formats() {
  return formats_in(kRuleListFormats);
}

Result<int> run_explain(const Request& request) {
  const std::string name = request.argument("RULE");
  if (name.empty()) return fail("explain needs the name of a rule", {}, "'tfdata-doctor rules' lists them");
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  if (request.all("TRACE").empty())
    return print_page(rule_page(request, name, output.format(), page_width(output)), output.path());
  const std::vector<CatalogEntry> catalog = rule_catalog();
  ASSIGN_OR_RETURN(const CatalogEntry* const entry, find_rule(name, catalog));
  return explain_traces(request, output, entry->rule);
}

Result<int> run_rules(const Request& request) {
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const std::vector<CatalogEntry> catalog = rule_catalog();
  return print_page(row_of(kRuleListFormats, output.format()).render(catalog, page_width(output)), output.path());
}

}  // namespace doctor
