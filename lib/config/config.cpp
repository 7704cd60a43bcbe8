#include "config/config.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/try.h"
#include "config/toml_reader.h"
#include "io/file_io.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

constexpr std::string_view kPipeline = "pipeline";
constexpr std::string_view kMatch = "match";

struct Amount {
  BudgetKind kind;
  std::string_view expected;
  double most;
};

/// The limits that are numbers; the one on rules is an array.
constexpr std::array<Amount, 2> kAmounts = {{
    {BudgetKind::input_share, "a share between 0 and 1", 1},
    {BudgetKind::get_next_p95, "a number of microseconds from 0 up", HUGE_VAL},
}};

/// The name of a rule; nullopt where there is none of that name, which is a fault.
std::optional<std::string> read_rule_name(std::string_view key, const toml::node& node,
                                          std::span<const CatalogEntry> catalog, TomlReader& reader) {
  std::optional<std::string> name = reader.text(key, node, "the name of a rule");
  if (!name) return std::nullopt;
  const Result<const CatalogEntry*> entry = find_rule(*name, catalog, reader.place(node.source()));
  if (entry) return name;
  reader.fault(node.source(), entry.error().what, entry.error().next);
  return std::nullopt;
}

class BudgetReader {
 public:
  BudgetReader(std::span<const CatalogEntry> catalog, TomlReader& reader, std::vector<Budget>& budgets)
      : catalog_(catalog), reader_(reader), budgets_(budgets) {}

  /// [budgets]: limits for every pipeline, and the tables of single ones.
  void read_all(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (key.str() == kPipeline) {
        read_pipelines(node);
      } else if (!read_limit(key, node, {})) {
        reader_.unknown_key(key, "[budgets]", known_keys(kPipeline));
      }
    }
  }

 private:
  static std::vector<std::string_view> known_keys(std::string_view besides) {
    std::vector<std::string_view> keys;
    keys.reserve(kAmounts.size() + 2);
    for (const Amount& amount : kAmounts) keys.push_back(name_of(amount.kind));
    keys.push_back(name_of(BudgetKind::forbidden_rule));
    keys.push_back(besides);
    return keys;
  }

  void read_pipelines(const toml::node& node) {
    const toml::array* const tables = node.as_array();
    if (tables == nullptr) return reader_.wrong_type(kPipeline, node, "tables like [[budgets.pipeline]]");
    for (const toml::node& table : *tables) {
      if (table.is_table()) {
        read_pipeline(*table.as_table());
      } else {
        reader_.wrong_type(kPipeline, table, "a table [[budgets.pipeline]]");
      }
    }
  }

  void read_pipeline(const toml::table& table) {
    constexpr std::string_view kExpected = "a pattern for long names, e.g. \"*::Shuffle*\" or \"device:*\"";
    std::string pattern;
    if (const toml::node* const match = table.get(kMatch)) {
      pattern = reader_.text(kMatch, *match, kExpected).value_or("");
      if (match->is_string() && pattern.empty()) reader_.fault(match->source(), "'match' is empty");
    } else {
      reader_.fault(table.source(), "the table has no key 'match'", fmt::format("it takes {}", kExpected));
    }
    for (const auto& [key, node] : table) {
      if (key.str() == kMatch || read_limit(key, node, pattern)) continue;
      reader_.unknown_key(key, "[[budgets.pipeline]]", known_keys(kMatch));
    }
  }

  /// Whether the key is that of a limit.
  bool read_limit(const toml::key& key, const toml::node& node, const std::string& pipeline) {
    for (const Amount& amount : kAmounts) {
      if (key.str() != name_of(amount.kind)) continue;
      read_number(amount, key, node, pipeline);
      return true;
    }
    if (key.str() != name_of(BudgetKind::forbidden_rule)) return false;
    read_rules(key, node, pipeline);
    return true;
  }

  void read_number(const Amount& amount, const toml::key& key, const toml::node& node, const std::string& pipeline) {
    const std::optional<double> limit = reader_.number(key.str(), node, amount.expected);
    if (!limit) return;
    if (!(*limit >= 0 && *limit <= amount.most && std::isfinite(*limit))) {
      return reader_.fault(node.source(), fmt::format("'{}' is {}, expected {}", key.str(), *limit, amount.expected));
    }
    budgets_.push_back({amount.kind, pipeline, *limit, {}, reader_.source(key.source())});
  }

  void read_rules(const toml::key& key, const toml::node& node, const std::string& pipeline) {
    constexpr std::string_view kExpected = "an array of rules, e.g. [\"slow-source\"]";
    const toml::array* const rules = node.as_array();
    if (rules == nullptr) return reader_.wrong_type(key.str(), node, kExpected);
    for (const toml::node& item : *rules) {
      const std::optional<std::string> rule = read_rule_name(key.str(), item, catalog_, reader_);
      if (rule) budgets_.push_back({BudgetKind::forbidden_rule, pipeline, 0, *rule, reader_.source(item.source())});
    }
  }

  std::span<const CatalogEntry> catalog_;
  TomlReader& reader_;
  std::vector<Budget>& budgets_;
};

std::optional<std::chrono::year_month_day> read_date(const toml::node& node, TomlReader& reader) {
  if (const toml::value<toml::date>* const value = node.as_date()) {
    const toml::date& date = value->get();
    return std::chrono::year_month_day{std::chrono::year(date.year), std::chrono::month(date.month),
                                       std::chrono::day(date.day)};
  }
  reader.wrong_type("expires", node, "a date without quotes, e.g. 2026-12-31");
  return std::nullopt;
}

void read_reason(const toml::node& node, TomlReader& reader, Suppression& suppression) {
  suppression.reason = reader.text("reason", node, "a string").value_or("");
  const bool is_blank = suppression.reason.find_first_not_of(" \t\r\n") == std::string::npos;
  if (node.is_string() && is_blank) reader.fault(node.source(), "'reason' is empty");
}

void read_suppression(const toml::table& table, std::span<const CatalogEntry> catalog, TomlReader& reader,
                      std::vector<Suppression>& suppressions) {
  Suppression suppression;
  suppression.source = reader.source(table.source());
  for (const auto& [key, node] : table) {
    if (key.str() == "rule") {
      suppression.rule = read_rule_name(key.str(), node, catalog, reader).value_or("");
    } else if (key.str() == "subject") {
      suppression.subject = reader.text(key.str(), node, "a pattern for long names").value_or("");
    } else if (key.str() == "reason") {
      read_reason(node, reader, suppression);
    } else if (key.str() == "expires") {
      suppression.expires = read_date(node, reader);
    } else {
      reader.unknown_key(key, "[[suppress]]", {"rule", "subject", "reason", "expires"});
    }
  }
  for (const std::string_view needed : {"rule", "reason"}) {
    if (table.get(needed) == nullptr) {
      reader.fault(table.source(), fmt::format("the suppression has no key '{}'", needed));
    }
  }
  suppressions.push_back(std::move(suppression));
}

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

void read_budgets(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                  std::vector<Budget>& budgets) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return reader.wrong_type("budgets", node, "a table [budgets]");
  BudgetReader(catalog, reader, budgets).read_all(*table);
}

void read_suppressions(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                       std::vector<Suppression>& suppressions) {
  const toml::array* const tables = node.as_array();
  if (tables == nullptr) return reader.wrong_type("suppress", node, "tables like [[suppress]]");
  for (const toml::node& table : *tables) {
    if (table.is_table()) {
      read_suppression(*table.as_table(), catalog, reader, suppressions);
    } else {
      reader.wrong_type("suppress", table, "a table [[suppress]]");
    }
  }
}

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

std::optional<std::string> find_config_file(const std::string& directory) {
  std::error_code ignored;  // a directory that may not be looked into holds nothing for us
  for (fs::path folder = directory; !folder.empty(); folder = folder.parent_path()) {
    const fs::path file = folder / kConfigFileName;
    if (fs::is_regular_file(file, ignored)) return file.string();
    if (fs::exists(folder / ".git", ignored) || folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

Result<std::string> read_config_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail("is a directory, not a configuration file", path);
  RETURN_IF_ERROR(check_that_it_ends(path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMostBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() == 0 && (!file.eof() || file.bad())) {
    return fail(std::string("cannot be read: ") + std::strerror(errno), path);
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.size() > kMostBytes) return fail("is too large for a configuration file (more than 1 MiB)", path);
  return bytes;
}

}  // namespace doctor
