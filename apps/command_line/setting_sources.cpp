#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "command_line/command_line.h"
#include "command_line/option_table.h"
#include "command_line/option_values.h"
#include "compare/comparison_thresholds.h"
#include "report/page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Whether this command can use a value that was not given to it in particular. `config` shows those of all commands.
bool is_possible(const OptionEntry& option, const GivenValue& value, const Request& request) {
  if (request.command == Command::config && !option.key.empty()) return true;
  if (!option.is_setting() || !check_value(option, value)) return false;
  if (option.name != "format") return true;
  const std::vector<OutputFormat> formats = formats_of(request);
  const std::optional<OutputFormat> format = format_of(value.text);
  return format && std::ranges::find(formats, *format) != formats.end();
}

std::optional<std::string> variable_of_process(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::chrono::year_month_day today_in_utc() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// People write "1" and "0" into variables.
std::string as_flag(const std::string& text) {
  return text == "1" ? "true" : text == "0" ? "false" : text;
}

ConfigType config_type(ValueKind kind) {
  using enum ConfigType;
  return kind == ValueKind::none     ? boolean
         : kind == ValueKind::number ? integer
         : kind == ValueKind::factor ? number
         : kind == ValueKind::size   ? integer_or_text
                                     : text;
}

/// The options of the command that are set in the environment. An empty variable sets nothing; values of an option that
/// repeats are separated by commas. Errors: a value that no command can take.
Result<GivenValues> read_environment(Command command, const Surroundings& around) {
  GivenValues values;
  for (const OptionEntry* option : options_of(command)) {
    if (!option->is_setting()) continue;
    const std::optional<std::string> text = around.variable(variable_of(*option));
    if (!text || text->empty()) continue;
    const std::string where = "environment " + variable_of(*option);
    const std::vector<std::string> parts = option->repeats ? split_at_commas(*text) : std::vector{*text};
    for (const std::string& part : parts) {
      const bool is_flag = option->kind == ValueKind::none;
      const GivenValue value = {is_flag ? as_flag(part) : part, where, Origin::environment};
      RETURN_IF_ERROR(check_for_any_command(option->name, value));
      values.add(option->name, value);
    }
  }
  return values;
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
  // Of a file that is named and a refusal, the one nearer to the command line counts.
  if (is_refused && (named == nullptr || named->origin <= refused->origin)) return std::nullopt;
  return named != nullptr ? named->text : find_config_file(around.directory);
}

/// The settings of one layer that are more than a value.
Result<void> take_tables(const GivenValues& layer, std::span<const CatalogEntry> catalog, Request& request) {
  constexpr std::array<std::pair<std::string_view, BudgetKind>, 3> kBudgets = {
      {{"max-input-share", BudgetKind::input_share},
       {"max-get-next-p95", BudgetKind::get_next_p95},
       {"forbid-rule", BudgetKind::forbidden_rule}}};
  for (const GivenValue& value : layer.all("set")) {
    ASSIGN_OR_RETURN(const ThresholdSetting setting, parse_threshold_setting(value.text, value.where, catalog));
    request.thresholds.push_back(setting);
  }
  if (const GivenValue* const gain = layer.find("min-gain")) {
    RETURN_IF_ERROR(check_for_any_command("min-gain", *gain));
    // `whatif` names what gains less itself, with the rule that would advise it.
    if (request.command != Command::whatif) {
      request.thresholds.push_back({"input-bound", "min_gain", *parse_factor(gain->text), gain->where});
    }
  }
  for (const auto& [option, kind] : kBudgets) {
    for (const GivenValue& value : layer.all(option)) {
      ASSIGN_OR_RETURN(const Budget budget, parse_budget(kind, value, catalog));
      request.budgets.push_back(budget);
    }
  }
  for (const GivenValue& value : layer.all("suppress")) {
    ASSIGN_OR_RETURN(const Suppression suppression, parse_suppression(value, catalog));
    request.suppressions.push_back(suppression);
  }
  return {};
}

/// A configuration file as a layer like the others.
GivenValues layer_of(const Config& config) {
  GivenValues values;
  for (const ConfigOption& option : config.options) {
    const std::span<const OptionEntry> table = option_table();
    const auto entry = std::ranges::find(table, option.key, &OptionEntry::key);
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

/// What of a configuration file counts for the command. It may come with the change that is judged, and turn the gate
/// off.
std::string describe_effect(const Config& config, const Request& request) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const OptionEntry* option : options_of(request.command)) {
    const GivenValue* const value = option->repeats ? nullptr : request.values.find(option->name);
    if (value != nullptr && value->origin == Origin::file) add(std::string(option->name) + " " + value->text);
  }
  const auto add_count = [&](std::size_t count, std::string_view what, std::string_view option) {
    if (count > 0 && find_option(request.command, option) != nullptr) add(format_count(count, what));
  };
  add_count(config.thresholds.size(), "threshold", "set");
  add_count(config.budgets.size(), "budget", "max-input-share");
  add_count(config.suppressions.size(), "suppression", "suppress");
  return text;
}

/// For each option of the command the value that counts and that it can use; all of those that add up.
GivenValues merge(const Request& request, std::span<const GivenValues* const> layers) {
  GivenValues merged;
  for (const OptionEntry* option : options_of(request.command)) {
    const GivenValue* top = nullptr;
    for (const GivenValues* layer : layers) {
      for (const GivenValue& value : layer->all(option->name)) {
        const bool is_wanted = value.origin == Origin::command_line || is_possible(*option, value, request);
        if (is_wanted && option->repeats) merged.add(option->name, value);
        if (is_wanted) top = &value;
      }
    }
    if (top != nullptr && !option->repeats) merged.add(option->name, *top);
  }
  return merged;
}

/// The values on the command line must be ones that their options can take. Formats are checked where they are written:
/// they depend on the page.
Result<void> check_values(const Request& request) {
  for (const OptionEntry* option : options_of(request.command)) {
    if (option->name == "format") continue;
    for (const GivenValue& value : request.values.all(option->name)) {
      if (value.origin != Origin::command_line) continue;
      RETURN_IF_ERROR(check_value(*option, value));
    }
  }
  return {};
}

/// Who asks through another program may choose what is read, not what is written, nor with which rights.
Result<void> check_embedded(const Request& request) {
  constexpr std::array<std::string_view, 7> kRefused = {"output",     "db",         "sql-file", "config",
                                                        "no-sandbox", "files-from", "tar"};
  if (!request.is_set("embedded")) return {};
  const auto* const refused =
      std::ranges::find_if(kRefused, [&](std::string_view option) { return request.values.find(option) != nullptr; });
  if (refused == kRefused.end()) return {};
  return fail(fmt::format("'--{}' cannot be given with '--embedded'", *refused), {},
              "run the program without '--embedded'");
}

Result<void> check_sandbox(const Request& request) {
  if (!request.is_set("no-sandbox") || !request.is_set("require-sandbox")) return {};
  return fail("'--no-sandbox' cannot be given with '--require-sandbox'", {}, "leave one of them out");
}

}  // namespace

Surroundings surroundings() {
  std::error_code ignored;  // a working directory that is gone holds no configuration
  return {variable_of_process, std::filesystem::current_path(ignored).string(), today_in_utc()};
}

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> keys;
  for (const OptionEntry& option : option_table()) {
    const bool is_known = std::ranges::any_of(keys, [&](const ConfigKey& key) { return key.name == option.key; });
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

tl::expected<void, Errors> add_settings(Request& request, const Surroundings& around) {
  const std::vector<CatalogEntry> catalog = settable_catalog();
  request.today = around.today;
  if (const Result<void> allowed = check_embedded(request); !allowed) return tl::unexpected(Errors{allowed.error()});
  if (const Result<void> clear = check_sandbox(request); !clear) return tl::unexpected(Errors{clear.error()});
  const bool is_embedded = request.is_set("embedded");
  const Result<GivenValues> environment =
      is_embedded ? Result<GivenValues>(GivenValues{}) : read_environment(request.command, around);
  if (!environment) return tl::unexpected(Errors{environment.error()});
  Config read;
  GivenValues file;
  if (!is_embedded && find_option(request.command, "config") != nullptr) {
    request.config_file = choose_config_file(*environment, request.values, around);
  }
  if (request.config_file) {
    tl::expected<Config, Errors> config = read_file(*request.config_file, catalog);
    if (!config) return tl::unexpected(std::move(config.error()));
    read = *std::move(config);
    file = layer_of(read);
    request.thresholds = read.thresholds;
    request.budgets = read.budgets;
    request.suppressions = read.suppressions;
  }
  for (const GivenValues* layer : {&std::as_const(file), &*environment, &std::as_const(request.values)}) {
    if (const Result<void> taken = take_tables(*layer, catalog, request); !taken) {
      return tl::unexpected(Errors{taken.error()});
    }
  }
  const std::array<const GivenValues*, 3> layers = {&file, &*environment, &request.values};
  request.values = merge(request, layers);
  request.set_by_file = describe_effect(read, request);
  if (const Result<void> checked = check_values(request); !checked) return tl::unexpected(Errors{checked.error()});
  return {};
}

}  // namespace doctor
