#pragma once

#include <span>
#include <string>

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "measure/measurements.h"

namespace doctor {

// Renderers: plain values in, the text of a page out. None can fail; the same values give the same bytes.

/// How much a page for a person tells.
enum class Detail {
  verdict,  ///< the first line only
  screen,   ///< at most one screen
  full,     ///< with the evidence of every finding and what could not be evaluated
};

struct TextStyle {
  bool color = false;
  Detail detail = Detail::screen;
  std::string rerun = "TRACE";  ///< what the user would pass to see more of the same traces; foreign text
};

/// The report as a person reads it: verdict, culprit, change to make, evidence, cautions, what was lost.
std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The report as `tfdata-doctor.report/1`. Strings of the trace are escaped to ASCII; bytes that are
/// not UTF-8 become U+FFFD.
std::string render_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The iterator trees with their times, pipelines in the order of the judgement; roots that no call of a consumer was
/// seen of come last.
std::string render_tree_text(const Measurements& measurements, const Diagnosis& diagnosis);

/// The same as `tfdata-doctor.tree/1`: the array `pipelines` of the report, and `other_iterators`.
std::string render_tree_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The catalogue of rules: one line a rule.
std::string render_rules_text(std::span<const CatalogEntry> catalog);

/// A rule's page with its thresholds and the values in force.
std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings);

/// What a rule asked of these traces: the numbers against its thresholds, the events they come from, and what kept it
/// from firing.
std::string render_explanation_text(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis,
                                    const TextStyle& style);

/// The same as `tfdata-doctor.explanation/1`.
std::string render_explanation_json(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis);

/// The rules given, with their thresholds, as `tfdata-doctor.rules/1`; with their pages if `with_pages`.
std::string render_rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings,
                              bool with_pages);

}  // namespace doctor
