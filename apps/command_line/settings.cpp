#include "command_line/settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "command_line/gate_values.h"
#include "command_line/option_table.h"
#include "command_line/option_values.h"
#include "compare/comparison_thresholds.h"
#include "config/config_file.h"
#include "diagnose/catalog.h"
#include "pages.h"

namespace doctor {
namespace {

/// Whether this command can use a value that was not given to it in particular.
bool is_possible(const OptionEntry& option, const GivenValue& value, const CommandLine& line) {
  if (!option.is_setting || !check_value(option, value)) return false;
  if (option.name != "format" || value.text != "csv" || line.command != Command::show) return true;
  const Page* const page = find_page(line.argument("PAGE"));
  return page == nullptr || page->has_csv;
}

ConfigType config_type(ValueKind kind) {
  switch (kind) {
    case ValueKind::none:
      return ConfigType::boolean;
    case ValueKind::number:
      return ConfigType::integer;
    case ValueKind::size:
      return ConfigType::integer_or_text;
    default:
      return ConfigType::text;
  }
}

/// The last value of the layers, from the command line down.
const GivenValue* value_on_top(std::string_view option, std::span<const GivenValues* const> layers) {
  const GivenValue* top = nullptr;
  for (const GivenValues* layer : layers) {
    if (const GivenValue* const value = layer->find(option)) top = value;
  }
  return top;
}

/// The path of the configuration file to read, and whether it was named: then it must be there.
std::optional<std::string> choose_config_file(const GivenValues& environment, const GivenValues& options,
                                              const Surroundings& around) {
  const std::array<const GivenValues*, 2> layers = {&environment, &options};
  const GivenValue* const named = value_on_top("config", layers);
  const GivenValue* const refused = value_on_top("no-config", layers);
  const bool is_refused = refused != nullptr && refused->text == "true";
  // Of a file that is named and a refusal, what stands nearer to the command line counts.
  if (is_refused && (named == nullptr || named->origin <= refused->origin)) return std::nullopt;
  return named != nullptr ? named->text : find_config_file(around.directory);
}

/// The settings of one layer that are more than a value.
Result<void> take_tables(const GivenValues& layer, std::span<const CatalogEntry> catalog, Settings& settings) {
  constexpr std::array<std::pair<std::string_view, BudgetKind>, 3> kBudgets = {
      {{"max-input-share", BudgetKind::input_share},
       {"max-get-next-p95", BudgetKind::get_next_p95},
       {"forbid-rule", BudgetKind::forbidden_rule}}};
  for (const GivenValue& value : layer.all("set")) {
    const Result<ThresholdSetting> setting = parse_threshold_setting(value.text, value.where, catalog);
    if (!setting) return Unexpected(setting.error());
    settings.thresholds.push_back(*setting);
  }
  for (const auto& [option, kind] : kBudgets) {
    for (const GivenValue& value : layer.all(option)) {
      const Result<Budget> budget = parse_budget(kind, value, catalog);
      if (!budget) return Unexpected(budget.error());
      settings.budgets.push_back(*budget);
    }
  }
  for (const GivenValue& value : layer.all("suppress")) {
    const Result<Suppression> suppression = parse_suppression(value, catalog);
    if (!suppression) return Unexpected(suppression.error());
    settings.suppressions.push_back(*suppression);
  }
  return {};
}

/// What a configuration file says, as the other layers say it.
GivenValues layer_of(const Config& config) {
  GivenValues values;
  for (const ConfigOption& option : config.options) {
    const std::span<const OptionEntry> table = option_table();
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const OptionEntry& candidate) { return candidate.key == option.key; });
    values.add(entry->name, {option.value, option.source, Origin::file});
  }
  return values;
}

tl::expected<Config, Errors> read_file(const std::string& path, std::span<const CatalogEntry> catalog) {
  const Result<std::string> bytes = read_config_file(path);
  if (!bytes) return tl::unexpected(Errors{bytes.error()});
  ConfigReading reading = read_config(*bytes, path, config_keys(), catalog);
  if (!reading.errors.empty()) return tl::unexpected(std::move(reading.errors));
  return std::move(reading.config);
}

/// For each option of the command the value on top that it can use; all of those that add up.
GivenValues merge(const CommandLine& line, std::span<const GivenValues* const> layers) {
  GivenValues merged;
  for (const OptionEntry* option : options_of(line.command)) {
    const GivenValue* top = nullptr;
    for (const GivenValues* layer : layers) {
      for (const GivenValue& value : layer->all(option->name)) {
        const bool is_wanted = value.origin == Origin::command_line || is_possible(*option, value, line);
        if (is_wanted && option->repeats) merged.add(option->name, value);
        if (is_wanted) top = &value;
      }
    }
    if (top != nullptr && !option->repeats) merged.add(option->name, *top);
  }
  return merged;
}

}  // namespace

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> keys;
  for (const OptionEntry& option : option_table()) {
    const bool is_known =
        std::any_of(keys.begin(), keys.end(), [&](const ConfigKey& key) { return key.name == option.key; });
    if (option.key.empty() || is_known || !is_plain(option)) continue;
    const std::string_view name = option.name;
    keys.push_back({option.key, config_type(option.kind), [name](const std::string& value, const std::string& where) {
                      return check_for_any_command(name, {value, where, Origin::file});
                    }});
  }
  return keys;
}

std::vector<CatalogEntry> settable_catalog() {
  std::vector<CatalogEntry> catalog = rule_catalog();
  catalog.push_back(comparison_catalog_entry());
  return catalog;
}

tl::expected<Settings, Errors> collect_settings(const CommandLine& line, const Surroundings& around) {
  Settings settings;
  const std::vector<CatalogEntry> catalog = settable_catalog();
  const Result<GivenValues> environment = read_environment(line.command, around);
  if (!environment) return tl::unexpected(Errors{environment.error()});
  GivenValues file;
  if (find_option(line.command, "config") != nullptr) {
    settings.config_file = choose_config_file(*environment, line.values, around);
  }
  if (settings.config_file) {
    tl::expected<Config, Errors> config = read_file(*settings.config_file, catalog);
    if (!config) return tl::unexpected(std::move(config.error()));
    file = layer_of(*config);
    settings.thresholds = std::move(config->thresholds);
    settings.budgets = std::move(config->budgets);
    settings.suppressions = std::move(config->suppressions);
  }
  for (const GivenValues* layer : {&*environment, &line.values}) {
    if (const Result<void> taken = take_tables(*layer, catalog, settings); !taken) {
      return tl::unexpected(Errors{taken.error()});
    }
  }
  const std::array<const GivenValues*, 3> layers = {&file, &*environment, &line.values};
  settings.values = merge(line, layers);
  for (const OptionEntry* option : options_of(line.command)) {
    if (const GivenValue* const top = value_on_top(option->name, layers)) settings.on_top.add(option->name, *top);
  }
  return settings;
}

}  // namespace doctor
