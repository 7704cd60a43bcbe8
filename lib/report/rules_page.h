#pragma once

#include <span>
#include <string>

#include "diagnose/catalog.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// `rules` and `explain RULE`.

/// The catalogue of rules: one line a rule.
std::string render_rules_text(std::span<const CatalogEntry> catalog, PageWidth width = {});

/// A rule's page with its thresholds and the values in force.
std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth width = {});

/// The rules given, with their thresholds, as `tfdata-doctor.rules/1`; with their pages if `with_pages`.
OrderedJson rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings, bool with_pages);

}  // namespace doctor
