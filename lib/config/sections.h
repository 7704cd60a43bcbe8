#pragma once

#include <span>
#include <vector>

#include "config/toml_reader.h"
#include "diagnose/budget.h"
#include "diagnose/catalog.h"
#include "diagnose/finding.h"
#include "diagnose/threshold_settings.h"

namespace doctor {

// The tables of a configuration file, one function each. The node's content is appended to the list, and its errors go
// to the reader.

void read_thresholds(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                     std::vector<ThresholdSetting>& thresholds);

void read_budgets(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                  std::vector<Budget>& budgets);

void read_suppressions(const toml::node& node, std::span<const CatalogEntry> catalog, TomlReader& reader,
                       std::vector<Suppression>& suppressions);

}  // namespace doctor
