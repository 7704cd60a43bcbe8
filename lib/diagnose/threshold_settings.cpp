#include "diagnose/threshold_settings.h"

#include <cmath>

#include "base/nearest.h"
#include "base/parse.h"

namespace doctor {
namespace {

/// Not a number where the text is none.
double parse_value(std::string_view text) {
  return parse_whole<double>(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Result<const CatalogEntry*> find_rule(std::string_view id, std::span<const CatalogEntry> catalog,
                                      const std::string& where) {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& entry : catalog) {
    if (entry.rule.id == id) return &entry;
    ids.push_back(entry.rule.id);
  }
  const std::string_view near = nearest(id, ids);
  return fail("no rule '" + std::string(id) + "'", where,
              near.empty() ? "'tfdata-doctor rules' lists them" : "did you mean '" + std::string(near) + "'?");
}

Result<const Threshold*> find_threshold(std::string_view name, const Rule& rule, const std::string& where) {
  std::vector<std::string_view> names;
  for (const Threshold& threshold : rule.thresholds) {
    if (threshold.name == name) return &threshold;
    names.push_back(threshold.name);
  }
  const std::string subject = "the rule " + std::string(rule.id);
  if (names.empty()) return fail(subject + " has no threshold", where);
  return fail(subject + " has no threshold '" + std::string(name) + "'", where, suggestion(name, names));
}

Result<void> check_threshold_value(const Threshold& threshold, double value, const std::string& text,
                                   const std::string& where) {
  if (!std::isfinite(value) || value < 0) return fail("'" + text + "' is not a number of 0 or more", where);
  if (threshold.unit == "share" && value > 1) return fail("a share is between 0 and 1", where);
  return {};
}

Result<ThresholdSetting> parse_threshold_setting(const std::string& text, const std::string& where,
                                                 std::span<const CatalogEntry> catalog) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  const std::string place = where + " " + text;
  if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
    return fail("expected rule.threshold=value", place);
  }
  const Result<const CatalogEntry*> entry = find_rule(std::string_view(text).substr(0, dot), catalog, place);
  if (!entry) return Unexpected(entry.error());
  const std::string name = text.substr(dot + 1, equals - dot - 1);
  const Result<const Threshold*> threshold = find_threshold(name, (*entry)->rule, place);
  if (!threshold) return Unexpected(threshold.error());
  const std::string value_text = text.substr(equals + 1);
  const double value = parse_value(value_text);
  const Result<void> checked = check_threshold_value(**threshold, value, value_text, place);
  if (!checked) return Unexpected(checked.error());
  return ThresholdSetting{std::string((*entry)->rule.id), name, value, where};
}

ThresholdSettings in_force(std::span<const ThresholdSetting> settings) {
  ThresholdSettings values;
  for (const ThresholdSetting& setting : settings) values[setting.rule][setting.name] = setting.value;
  return values;
}

std::vector<Rule> rules_of(const std::vector<CatalogEntry>& catalog) {
  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  return rules;
}

}  // namespace doctor
