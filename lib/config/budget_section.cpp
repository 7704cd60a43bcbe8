#include <array>
#include <cmath>

#include "config/sections.h"

namespace doctor {
namespace {

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
      const std::optional<std::string> rule = reader_.text(key.str(), item, "the name of a rule");
      if (!rule) continue;
      const Result<const CatalogEntry*> entry = find_rule(*rule, catalog_, reader_.place(item.source()));
      if (!entry) {
        reader_.fault(item.source(), entry.error().what, entry.error().next);
        continue;
      }
      budgets_.push_back({BudgetKind::forbidden_rule, pipeline, 0, *rule, reader_.source(item.source())});
    }
  }

  std::span<const CatalogEntry> catalog_;
  TomlReader& reader_;
  std::vector<Budget>& budgets_;
};

}  // namespace

void read_budgets(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                  std::vector<Budget>& budgets) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return reader.wrong_type("budgets", node, "a table [budgets]");
  BudgetReader(catalog, reader, budgets).read_all(*table);
}

}  // namespace doctor
