#include "config/sections.h"

namespace doctor {
namespace {

void read_rule(const toml::table& table, const Rule& rule, TomlReader& reader,
               std::vector<ThresholdSetting>& thresholds) {
  for (const auto& [key, node] : table) {
    const Result<const Threshold*> threshold = find_threshold(key.str(), rule, reader.place(key.source()));
    if (!threshold) {
      reader.fault(key.source(), threshold.error().what, threshold.error().next);
      continue;
    }
    const std::optional<double> value = reader.number(key.str(), node, "a number");
    if (!value) continue;
    const std::string text = fmt::format("{}", *value);
    if (reader.holds(check_threshold_value(**threshold, *value, text, reader.place(node.source())), node.source())) {
      thresholds.push_back({std::string(rule.id), std::string(key.str()), *value, reader.source(key.source())});
    }
  }
}

}  // namespace

void read_thresholds(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                     std::vector<ThresholdSetting>& thresholds) {
  const toml::table* const rules = node.as_table();
  if (rules == nullptr) return reader.wrong_type("thresholds", node, "tables like [thresholds.input-bound]");
  for (const auto& [key, values] : *rules) {
    const Result<const CatalogEntry*> entry = find_rule(key.str(), catalog, reader.place(key.source()));
    if (!entry) {
      reader.fault(key.source(), entry.error().what, entry.error().next);
      continue;
    }
    const toml::table* const table = values.as_table();
    if (table == nullptr) {
      reader.wrong_type(key.str(), values, fmt::format("a table [thresholds.{}]", key.str()));
      continue;
    }
    read_rule(*table, (*entry)->rule, reader, thresholds);
  }
}

}  // namespace doctor
