#include <fmt/format.h>

#include <algorithm>

#include "report/report.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {

std::string render_rules_text(std::span<const CatalogEntry> catalog) {
  std::size_t width = 0;
  for (const CatalogEntry& entry : catalog) width = std::max(width, entry.rule.id.size());
  std::string text;
  for (const CatalogEntry& entry : catalog) {
    text += fmt::format("{:<{}}  {}\n", entry.rule.id, width, entry.rule.summary);
  }
  return text;
}

std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings) {
  const Rule& rule = entry.rule;
  std::string text = std::string(entry.page);
  if (!text.ends_with('\n')) text += '\n';
  if (rule.thresholds.empty()) return text;
  const ThresholdValues in_force = values_in_force(rule.id, rule.thresholds, settings);
  text += "\n## Thresholds\n";
  TextPage page(/*color=*/false);
  for (const Threshold& threshold : rule.thresholds) {
    const double value = in_force[threshold.name];
    std::string number = format_quantity(value, threshold.unit);
    if (value != threshold.value)
      number += fmt::format(" (default {})", format_quantity(threshold.value, threshold.unit));
    text += fmt::format("\n{} = {}\n", threshold.name, number);
    page.row("", threshold.meaning);
    text += page.take();
    page = TextPage(/*color=*/false);
  }
  const Threshold& first = rule.thresholds.front();
  return text + fmt::format("\nSet one with --set {}.{}={:g}\n", rule.id, first.name, in_force[first.name]);
}

}  // namespace doctor
