#pragma once

#include <concepts>

#include "base/ids.h"
#include "diagnose/finding.h"
#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// How a measured number must stand to a threshold for a rule to go on.
enum class Relation { at_least, at_most, above };

/// A measured number against the threshold that decided about it.
struct Comparison {
  Evidence measured;
  Relation relation = Relation::at_least;
  std::string threshold;  ///< its name within the rule
  double limit = 0;       ///< its value in force
};

/// What a rule asked, and the answer.
struct Question {
  std::string statement;  ///< "the culprit runs one call at a time"; empty for a comparison
  std::optional<Comparison> comparison;
  bool holds = false;
};

/// All that a rule asked about one pipeline, or about the trace as a whole, in its order. Rules stop at the first
/// answer that speaks against them: so the last question of an inquiry without a finding is what kept the rule from
/// firing.
struct Inquiry {
  std::optional<std::size_t> pipeline;  ///< index into Judgement::pipelines; none: the whole trace
  IteratorId subject = kNoIterator;     ///< the iterator that the questions are about; none: the culprit, if any
  std::vector<Question> questions;
  std::string missing;           ///< what the trace does not show and the rule needs, as a clause; empty if nothing
  bool is_inapplicable = false;  ///< what is missing is what the rule is about: it cannot be at fault
  bool has_finding = false;
};

/// What a rule asks through, so that `explain RULE TRACE` shows the very comparisons that decided.
class Examiner {
 public:
  /// `keeps_questions`: for pages; who reads none of them has no use for the words.
  Examiner(const ThresholdValues& thresholds, Inquiry& inquiry, bool keeps_questions)
      : thresholds_(thresholds), inquiry_(inquiry), keeps_questions_(keeps_questions) {}

  /// Asks whether something is so; says whether it is.
  bool holds(std::string_view statement, bool is_so) {
    return holds([&] { return std::string(statement); }, is_so);
  }
  /// As above, for a statement that takes words to make: `statement` makes them.
  template <std::invocable Statement>
  bool holds(const Statement& statement, bool is_so) {
    if (keeps_questions_) inquiry_.questions.push_back({statement(), std::nullopt, is_so});
    return is_so;
  }

  // Compare a number with one of the rule's thresholds; say whether the rule may go on.
  bool at_least(Evidence measured, std::string_view threshold);
  bool at_most(Evidence measured, std::string_view threshold);
  bool above(Evidence measured, std::string_view threshold);

  /// The trace does not show what the rule needs to go on. `evidence` is a clause for a person.
  void misses(std::string evidence) { inquiry_.missing = std::move(evidence); }

  /// The trace has nothing of what the rule is about.
  void does_not_apply(std::string evidence) {
    misses(std::move(evidence));
    inquiry_.is_inapplicable = true;
  }

  /// The questions are about this iterator, which is not the culprit.
  void is_about(IteratorId iterator) { inquiry_.subject = iterator; }

  /// The value in force of a threshold that changes what is said, not whether.
  double operator[](std::string_view threshold) const { return thresholds_[threshold]; }

 private:
  bool compare(Evidence measured, Relation relation, std::string_view threshold);

  const ThresholdValues& thresholds_;  ///< of the rule
  Inquiry& inquiry_;
  const bool keeps_questions_;
};

/// What a rule may look at.
struct RuleContext {
  const Measurements& measurements;
  const Judgement& judgement;
  const ThresholdValues& thresholds;  ///< of this rule
  bool keeps_questions = true;        ///< what the rule asks is for a page, and not only what it finds

  PipelineView pipeline(std::size_t index) const { return view_of(measurements, judgement.pipelines[index]); }
};

/// What a rule says, and what it asked to come to it. It never fires on evidence that it did not see: then an inquiry
/// says what was missing.
struct RuleResult {
  std::vector<Finding> findings;
  std::vector<Inquiry> inquiries;
};

/// One rule: named for the fault it finds. A pure function over measurements.
struct Rule {
  std::string_view id;
  std::string_view summary;        ///< one line for the catalogue
  std::vector<Reference> follows;  ///< the pages that its advice follows, the one to read first before the others
  std::vector<Threshold> thresholds;
  RuleResult (*check)(const RuleContext& context) = nullptr;
  bool states_verdict = false;  ///< its thresholds are verdict_thresholds(): setting them changes the verdict
  /// It holds how busy the cores were against a threshold: another program on the machine can make it fire, or not.
  bool judges_load = false;
  bool compares_hosts = false;  ///< its thresholds are straggler_thresholds(): setting them changes the comparison
};

}  // namespace doctor
