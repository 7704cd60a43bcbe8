#include "report/report.h"
#include "text/json_page.h"

namespace doctor {
namespace {

OrderedJson rule_json(const CatalogEntry& entry, const ThresholdSettings& settings, bool with_page) {
  const ThresholdValues in_force = values_in_force(entry.rule.id, entry.rule.thresholds, settings);
  OrderedJson thresholds = OrderedJson::array();
  for (const Threshold& threshold : entry.rule.thresholds) {
    thresholds.push_back({
        {"name", threshold.name},
        {"value", in_force[threshold.name]},
        {"default", threshold.value},
        {"unit", threshold.unit},
        {"meaning", threshold.meaning},
    });
  }
  OrderedJson json = {{"rule", entry.rule.id}, {"summary", entry.rule.summary}};
  json["thresholds"] = std::move(thresholds);
  if (with_page) json["page"] = entry.page;
  return json;
}

}  // namespace

std::string render_rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings,
                              bool with_pages) {
  OrderedJson rules = OrderedJson::array();
  for (const CatalogEntry& entry : catalog) rules.push_back(rule_json(entry, settings, with_pages));
  OrderedJson page = {{"schema", "tfdata-doctor.rules/1"}, {"tool", tool_json()}};
  page["rules"] = std::move(rules);
  return to_text(page);
}

}  // namespace doctor
