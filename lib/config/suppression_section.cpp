#include <algorithm>
#include <array>

#include "config/sections.h"

namespace doctor {
namespace {

std::optional<std::chrono::year_month_day> read_date(const toml::node& node, TomlReader& reader) {
  if (const toml::value<toml::date>* const value = node.as_date()) {
    const toml::date& date = value->get();
    return std::chrono::year_month_day{std::chrono::year(date.year), std::chrono::month(date.month),
                                       std::chrono::day(date.day)};
  }
  reader.wrong_type("expires", node, "a date without quotes, e.g. 2026-12-31");
  return std::nullopt;
}

void read_rule(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
               Suppression& suppression) {
  suppression.rule = reader.text("rule", node, "the name of a rule").value_or("");
  if (!node.is_string()) return;
  const Result<const CatalogEntry*> entry = find_rule(suppression.rule, catalog, reader.place(node.source()));
  if (!entry) reader.fault(node.source(), entry.error().what, entry.error().next);
}

void read_subject(const toml::node& node, std::span<const CatalogEntry> /*catalog*/, TomlReader& reader,
                  Suppression& suppression) {
  suppression.subject = reader.text("subject", node, "a pattern for long names").value_or("");
}

void read_reason(const toml::node& node, std::span<const CatalogEntry> /*catalog*/, TomlReader& reader,
                 Suppression& suppression) {
  suppression.reason = reader.text("reason", node, "a string").value_or("");
  const bool is_blank = suppression.reason.find_first_not_of(" \t\r\n") == std::string::npos;
  if (node.is_string() && is_blank) reader.fault(node.source(), "'reason' is empty");
}

struct SuppressionKey {
  std::string_view name;
  bool is_needed;
  void (*read)(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
               Suppression& suppression);
};

constexpr std::array<SuppressionKey, 4> kKeys = {
    {{"rule", true, read_rule},
     {"subject", false, read_subject},
     {"reason", true, read_reason},
     {"expires", false,
      [](const toml::node& node, std::span<const CatalogEntry>, TomlReader& reader, Suppression& suppression) {
        suppression.expires = read_date(node, reader);
      }}}};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> names;
  names.reserve(kKeys.size());
  for (const SuppressionKey& key : kKeys) names.push_back(key.name);
  return names;
}

void read_suppression(const toml::table& table, std::span<const CatalogEntry> catalog, TomlReader& reader,
                      std::vector<Suppression>& suppressions) {
  Suppression suppression;
  suppression.source = reader.source(table.source());
  for (const auto& [key_of_node, node] : table) {
    const toml::key& key = key_of_node;  // a name that a lambda may capture: clang 14 refuses structured bindings
    const auto* const known =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const SuppressionKey& one) { return one.name == key.str(); });
    if (known == kKeys.end()) {
      reader.unknown_key(key, "[[suppress]]", known_keys());
    } else {
      known->read(node, catalog, reader, suppression);
    }
  }
  for (const SuppressionKey& key : kKeys) {
    if (key.is_needed && table.get(key.name) == nullptr) {
      reader.fault(table.source(), fmt::format("the suppression has no key '{}'", key.name));
    }
  }
  suppressions.push_back(std::move(suppression));
}

}  // namespace

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

}  // namespace doctor
