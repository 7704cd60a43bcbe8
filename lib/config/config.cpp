#include "config/config.h"

#include <algorithm>

#include "config/sections.h"
#include "config/toml_reader.h"

namespace doctor {
namespace {

std::string_view expectation(ConfigType type) {
  switch (type) {
    case ConfigType::boolean:
      return "true or false";
    case ConfigType::integer:
      return "an integer";
    case ConfigType::number:
      return "a number";
    case ConfigType::integer_or_text:
      return "an integer or a string";
    case ConfigType::text:
      break;
  }
  return "a string";
}

/// The value as it would be on the command line; nothing if it has another type.
std::optional<std::string> value_text(const toml::node& node, ConfigType type) {
  const bool takes_integer =
      type == ConfigType::integer || type == ConfigType::number || type == ConfigType::integer_or_text;
  const bool takes_text = type == ConfigType::text || type == ConfigType::integer_or_text;
  if (type == ConfigType::boolean && node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  if (takes_integer && node.is_integer()) return fmt::format("{}", node.as_integer()->get());
  if (type == ConfigType::number && node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  if (takes_text && node.is_string()) return node.as_string()->get();
  return std::nullopt;
}

void read_option(const toml::key& key, const toml::node& node, const ConfigKey& known, TomlReader& reader,
                 std::vector<ConfigOption>& options) {
  const std::optional<std::string> value = value_text(node, known.type);
  if (!value) return reader.wrong_type(known.name, node, expectation(known.type));
  const std::string place = fmt::format("{}: {}", reader.place(node.source()), known.name);
  if (reader.holds(known.check(*value, place), node.source())) {
    options.push_back({std::string(known.name), *value, reader.source(key.source())});
  }
}

void read_document(const toml::table& document, std::span<const ConfigKey> keys, std::span<const CatalogEntry> catalog,
                   TomlReader& reader, Config& config) {
  for (const auto& [key, node] : document) {
    const std::string_view name = key.str();
    const auto known =
        std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& candidate) { return candidate.name == name; });
    if (known != keys.end()) {
      read_option(key, node, *known, reader, config.options);
    } else if (name == "thresholds") {
      read_thresholds(node, catalog, reader, config.thresholds);
    } else if (name == "budgets") {
      read_budgets(node, catalog, reader, config.budgets);
    } else if (name == "suppress") {
      read_suppressions(node, catalog, reader, config.suppressions);
    } else {
      std::vector<std::string_view> names = {"thresholds", "budgets", "suppress"};
      for (const ConfigKey& candidate : keys) names.push_back(candidate.name);
      reader.unknown_key(key, {}, names);
    }
  }
}

}  // namespace

ConfigReading read_config(std::string_view bytes, const std::string& path, std::span<const ConfigKey> keys,
                          std::span<const CatalogEntry> catalog) {
  ConfigReading reading;
  TomlReader reader(path);
  const toml::parse_result parsed = toml::parse(bytes);
  if (parsed) {
    read_document(parsed.table(), keys, catalog, reader, reading.config);
  } else {
    reader.fault(parsed.error().source(), std::string(parsed.error().description()));
  }
  reading.errors = reader.take_errors();
  return reading;
}

}  // namespace doctor
