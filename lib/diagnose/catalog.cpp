#include "diagnose/catalog.h"

namespace doctor {

std::vector<Rule> rules_of(const std::vector<CatalogEntry>& catalog) {
  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  return rules;
}

}  // namespace doctor
