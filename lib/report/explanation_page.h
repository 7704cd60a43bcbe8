#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// What explains a rule's answer about one trace, chosen in one place for the text and the JSON page.

enum class RuleOutcome { fired, silent, not_evaluated };

RuleOutcome outcome_of(const Inquiry& inquiry);
/// Of all its inquiries: it fired if one of them did, and could not be evaluated if that is said of one.
RuleOutcome outcome_of(const std::vector<Inquiry>& inquiries);

/// The question that kept the rule from firing: the last one. Null if it fired, or was asked nothing.
const Question* deciding_question(const Inquiry& inquiry);

/// "culprit_share 95 % is at least 20 % (min_culprit_share)", or "... is below ..."; a statement stays as it is,
/// whether it holds or not.
std::string describe(const Question& question);

/// What a rule asked of these traces: the numbers against its thresholds, the events they come from, and what kept it
/// from firing.
std::string render_explanation_text(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis,
                                    const TextStyle& style);

/// The same as `tfdata-doctor.explanation/1`.
OrderedJson explanation_json(const Rule& rule, const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
