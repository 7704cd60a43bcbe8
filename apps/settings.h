#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "diagnose/catalog.h"

namespace doctor {

/// The entry of the rule named `id`. Errors: no such rule, with the nearest name.
Result<const CatalogEntry*> find_rule(std::string_view id, std::span<const CatalogEntry> catalog);

/// Reads settings "rule.threshold=value"; of several for one threshold the last counts. Errors: anything but a known
/// rule, one of its thresholds and a number that it can take.
Result<ThresholdSettings> parse_settings(std::span<const std::string> settings, std::span<const CatalogEntry> catalog);

}  // namespace doctor
