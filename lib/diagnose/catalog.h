#pragma once

#include "diagnose/rule.h"

namespace doctor {

/// A rule with its page (the text of rules/<id>.md).
struct CatalogEntry {
  Rule rule;
  std::string_view page;
};

/// All rules, by id. Generated from the folder rules/ when the project is configured.
std::vector<CatalogEntry> rule_catalog();

/// The rules alone, in the same order.
std::vector<Rule> rules_of(const std::vector<CatalogEntry>& catalog);

/// All rules, made once. Here, because the library does without a catalogue unless somebody asks for it.
inline std::span<const Rule> all_rules() {
  static const std::vector<Rule> kRules = rules_of(rule_catalog());
  return kRules;
}

}  // namespace doctor
