#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"
#include "report/selection.h"

namespace doctor {

// What explains a rule's answer about one trace, chosen in one place for the text and the JSON page.

enum class RuleOutcome { fired, silent, not_evaluated };

/// Where a number of an inquiry comes from. Holds foreign text.
struct SeenAt {
  std::string what;       ///< "GetNext call 3 of 8, the longest"
  std::string long_name;  ///< of an iterator; empty for a GetNext call
  std::string thread;     ///< name of the thread; may be empty
  Picoseconds start = 0;  ///< since the trace begins
  Picoseconds duration = 0;
};

/// What the rule named `rule` asked; empty if there is no such rule.
const std::vector<Inquiry>& inquiries_of(const Diagnosis& diagnosis, std::string_view rule);

RuleOutcome outcome_of(const Inquiry& inquiry);
/// Of all its inquiries: it fired if one of them did, and could not be evaluated if that is said of one.
RuleOutcome outcome_of(const std::vector<Inquiry>& inquiries);

/// The question that kept the rule from firing: the last one. Null if it fired, or was asked nothing.
const Question* deciding_question(const Inquiry& inquiry);

/// The silent inquiry that came closest to a finding, for the user to look at first: the one that asked most, of those
/// the one whose number is nearest to its threshold as a part of it. Null if none ended at a comparison.
const Inquiry* nearest_to_firing(const std::vector<Inquiry>& inquiries);

/// The events behind an inquiry about a pipeline: its longest GetNext call, and what the iterator asked about did
/// longest.
std::vector<SeenAt> seen_at(const PipelineView& view, const Inquiry& inquiry);

/// "culprit_share 95 % is at least 20 % (min_culprit_share)", or "... is below ..."; a statement stays as it is,
/// whether it holds or not.
std::string describe(const Question& question);

}  // namespace doctor
