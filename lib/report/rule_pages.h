#pragma once

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "text/columns.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `rules` and `explain RULE`.

/// The catalogue of rules: one line a rule.
std::string render_rules_text(std::span<const CatalogEntry> catalog, PageWidth width = {});

/// A rule's page with its thresholds and the values in force.
std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth width = {});

/// The rules given, with their thresholds, as `tfdata-doctor.rules/1`; with their pages if `with_pages`.
OrderedJson rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings, bool with_pages);

// What explains a rule's answer about one trace, chosen in one place for the text and the JSON page.

enum class RuleOutcome { fired, silent, not_evaluated };

RuleOutcome outcome_of(const Inquiry& inquiry);
/// Of all its inquiries: it fired if one of them did, and could not be evaluated if that is said of one.
RuleOutcome outcome_of(const std::vector<Inquiry>& inquiries);

/// The question that kept the rule from firing: the last one. Null if it fired, or was asked nothing.
const Question* deciding_question(const Inquiry& inquiry);

/// "culprit_share 95% is at least 20% (min_culprit_share)", or "... is below ..."; a statement stays as it is,
/// whether it holds or not.
std::string describe(const Question& question);

/// What a rule asked of these traces: the numbers against its thresholds, the events they come from, and what kept it
/// from firing.
std::string render_explanation_text(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis,
                                    const TextStyle& style);

/// The same as `tfdata-doctor.explanation/1`.
OrderedJson explanation_json(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
