#include <fmt/format.h>

#include <algorithm>

#include "command_line/option_table.h"
#include "command_line/option_values.h"
#include "command_line/setting_sources.h"
#include "diagnose/budgets.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

using Value = decltype(SettingInForce::value);

constexpr std::string_view kDefault = "default";

Value value_of(const OptionEntry& option, const std::string& text) {
  if (option.kind == ValueKind::none) return text == "true";
  if (text.empty()) return {};
  if (option.kind == ValueKind::number) return static_cast<double>(*parse_number(text));
  if (option.kind == ValueKind::factor) return *parse_factor(text);
  return text;
}

std::string key_of(const Budget& budget) {
  const std::string_view name = name_of(budget.kind);
  return budget.pipeline.empty() ? fmt::format("budgets.{}", name)
                                 : fmt::format("budgets.pipeline '{}' {}", budget.pipeline, name);
}

std::string describe(const Suppression& suppression) {
  std::string text = suppression.rule;
  if (!suppression.subject.empty()) text += ":" + suppression.subject;
  if (suppression.expires) text += " until " + to_date(*suppression.expires);
  return text + ", " + suppression.reason;
}

void add_options(const Request& request, std::vector<SettingInForce>& list) {
  for (const OptionEntry* option : options_of(Command::config)) {
    if (!is_plain(*option) || option->key.empty()) continue;
    const GivenValue* const given = request.values.find(option->name);
    list.push_back({std::string(option->key),
                    value_of(*option, given != nullptr ? given->text : std::string(option->default_text)),
                    given != nullptr ? given->where : std::string(kDefault)});
  }
}

/// `min-gain` is a threshold, too, which may have been set by its own name.
void take_min_gain(const Request& request, std::vector<SettingInForce>& list) {
  for (const ThresholdSetting& setting : request.thresholds) {
    if (setting.rule != "input-bound" || setting.name != "min_gain") continue;
    const auto entry = std::find_if(list.begin(), list.end(),
                                    [](const SettingInForce& candidate) { return candidate.key == "min-gain"; });
    if (entry != list.end()) *entry = {entry->key, setting.value, setting.source};
  }
}

void add_thresholds(const Request& request, std::vector<SettingInForce>& list) {
  for (const ThresholdSetting& setting : request.thresholds) {
    const std::string key = fmt::format("thresholds.{}.{}", setting.rule, setting.name);
    // What counts more comes later.
    std::erase_if(list, [&](const SettingInForce& earlier) { return earlier.key == key; });
    list.push_back({key, setting.value, setting.source});
  }
}

}  // namespace

std::vector<SettingInForce> settings_in_force(const Request& request) {
  std::vector<SettingInForce> list;
  add_options(request, list);
  take_min_gain(request, list);
  add_thresholds(request, list);
  for (const Budget& budget : budgets_in_force(request.budgets)) {
    const bool is_rule = budget.kind == BudgetKind::forbidden_rule;
    list.push_back({key_of(budget), is_rule ? Value(budget.rule) : Value(budget.limit), budget.source});
  }
  for (const Suppression& suppression : request.suppressions) {
    list.push_back({"suppress", describe(suppression), suppression.source});
  }
  return list;
}

}  // namespace doctor
