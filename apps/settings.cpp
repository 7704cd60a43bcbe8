#include "settings.h"

#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

#include "base/nearest.h"

namespace doctor {
namespace {

Result<const Threshold*> find_threshold(std::string_view name, const Rule& rule) {
  std::vector<std::string_view> names;
  for (const Threshold& threshold : rule.thresholds) {
    if (threshold.name == name) return &threshold;
    names.push_back(threshold.name);
  }
  const std::string where = "--set " + std::string(rule.id) + "." + std::string(name);
  if (names.empty()) return fail("the rule has no threshold", where);
  return fail("the rule has no such threshold", where, suggestion(name, names));
}

Result<double> parse_value(std::string_view text, const Threshold& threshold, const std::string& setting) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) {
    return fail("'" + std::string(text) + "' is no number from 0 up", "--set " + setting);
  }
  if (threshold.unit == "share" && value > 1) return fail("a share is between 0 and 1", "--set " + setting);
  return value;
}

}  // namespace

Result<const CatalogEntry*> find_rule(std::string_view id, std::span<const CatalogEntry> catalog) {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& entry : catalog) {
    if (entry.rule.id == id) return &entry;
    ids.push_back(entry.rule.id);
  }
  const std::string_view near = nearest(id, ids);
  return fail("no rule '" + std::string(id) + "'", {},
              near.empty() ? "'tfdata-doctor rules' lists them" : "did you mean '" + std::string(near) + "'?");
}

Result<ThresholdSettings> parse_settings(std::span<const std::string> settings, std::span<const CatalogEntry> catalog) {
  ThresholdSettings parsed;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::size_t dot = setting.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
      return fail("expected rule.threshold=value", "--set " + setting);
    }
    const Result<const CatalogEntry*> entry = find_rule(std::string_view(setting).substr(0, dot), catalog);
    if (!entry) return Unexpected(entry.error());
    const std::string name = setting.substr(dot + 1, equals - dot - 1);
    const Result<const Threshold*> threshold = find_threshold(name, (*entry)->rule);
    if (!threshold) return Unexpected(threshold.error());
    const Result<double> value = parse_value(std::string_view(setting).substr(equals + 1), **threshold, setting);
    if (!value) return Unexpected(value.error());
    parsed[std::string((*entry)->rule.id)][name] = *value;
  }
  return parsed;
}

}  // namespace doctor
