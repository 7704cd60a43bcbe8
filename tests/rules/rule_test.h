#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../measured_pipeline.h"
#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"

/// What the tests of rules share. Each rule has a file tests/rules/<rule-id>_test.cpp that calls check_situations() and
/// check_thresholds(); tests/catalog_test.cpp fails for a rule without one.
namespace doctor::rule_test {

/// What one rule says.
struct Outcome {
  std::vector<Finding> findings;
  std::string not_evaluated;
};

inline Outcome ask(std::string_view rule, const Measurements& measurements, const ThresholdSettings& settings = {}) {
  const std::span<const Rule> rules = all_rules();
  Diagnosis diagnosis = diagnose(measurements, rules, settings);
  Outcome outcome;
  for (Finding& finding : diagnosis.findings) {
    for (const Advice& advice : finding.advice) CHECK_MESSAGE(!advice.text.action.ends_with('.'), advice.text.action);
    if (finding.rule == rule) outcome.findings.push_back(std::move(finding));
  }
  for (const NotEvaluated& entry : diagnosis.not_evaluated) {
    if (entry.rule == rule) outcome.not_evaluated = entry.reason;
  }
  return outcome;
}

/// "warning", "note", "silent" or "not evaluated".
inline std::string answer(std::string_view rule, const Measurements& measurements,
                          const ThresholdSettings& settings = {}) {
  const Outcome outcome = ask(rule, measurements, settings);
  if (!outcome.not_evaluated.empty()) return outcome.findings.empty() ? "not evaluated" : "both";
  if (outcome.findings.empty()) return "silent";
  return outcome.findings.front().severity == Severity::warning ? "warning" : "note";
}

inline bool mentions(const Finding& finding, const std::string& text) {
  for (const Advice& advice : finding.advice) {
    if (advice.text.whole().find(text) != std::string::npos) return true;
    if (advice.code && advice.code->find(text) != std::string::npos) return true;
  }
  return finding.message.find(text) != std::string::npos;
}

/// Whether the rule's one finding has `text` in its message or its advice.
inline bool says(std::string_view rule, const MeasuredPipeline& pipeline, const std::string& text,
                 const ThresholdSettings& settings = {}) {
  const Outcome outcome = ask(rule, pipeline.measurements(), settings);
  REQUIRE(outcome.findings.size() == 1);
  return mentions(outcome.findings.front(), text);
}

/// The kinds of fixes that the rule's one finding advises, for a model to predict.
inline std::vector<FixKind> fix_kinds_of(std::string_view rule, const MeasuredPipeline& pipeline) {
  const Outcome outcome = ask(rule, pipeline.measurements());
  REQUIRE(outcome.findings.size() == 1);
  std::vector<FixKind> kinds;
  for (const Advice& advice : outcome.findings.front().advice) {
    for (const Fix& fix : advice.fixes) kinds.push_back(fix.kind);
  }
  return kinds;
}

struct Situation {
  std::string description;
  MeasuredPipeline pipeline;
  std::string answer;  ///< see answer()
};

inline void check_situations(std::string_view rule, const std::vector<Situation>& situations) {
  CHECK_MESSAGE(!situations.empty(), rule, " has no situation");
  for (const Situation& situation : situations) {
    CAPTURE(situation.description);
    CHECK(answer(rule, situation.pipeline.measurements()) == situation.answer);
  }
}

/// A threshold, and a pipeline whose quantity held against it can be set.
struct Flip {
  std::string threshold;
  double step;  ///< how far from the threshold the quantity is tried
  std::function<MeasuredPipeline(double quantity)> with_quantity;
  bool (*fires)(double quantity, double threshold);
  std::string when_it_fires = "warning";
  std::string otherwise = "silent";
};

inline bool at_least(double quantity, double threshold) {
  return quantity >= threshold;
}
inline bool at_most(double quantity, double threshold) {
  return quantity <= threshold;
}
inline bool above(double quantity, double threshold) {
  return quantity > threshold;
}

/// The rule's answer on either side of the threshold, where it is and where the user moves it.
inline void check_flip(const Rule& rule, const Flip& flip) {
  CAPTURE(flip.threshold);
  const auto threshold = std::find_if(rule.thresholds.begin(), rule.thresholds.end(),
                                      [&](const Threshold& t) { return t.name == flip.threshold; });
  REQUIRE_MESSAGE(threshold != rule.thresholds.end(), rule.id, " has no such threshold");
  for (const double quantity : {threshold->value - flip.step, threshold->value, threshold->value + flip.step}) {
    for (const double moved : {-1.5, 0.0, 1.5}) {
      const double set = threshold->value + moved * flip.step;
      CAPTURE(quantity);
      CAPTURE(set);
      const ThresholdSettings settings = {{std::string(rule.id), {{flip.threshold, set}}}};
      const std::string said = answer(rule.id, flip.with_quantity(quantity).measurements(), settings);
      CHECK(said == (flip.fires(quantity, set) ? flip.when_it_fires : flip.otherwise));
    }
  }
}

/// Every threshold of the rule decides: each has one flip, or is named as tested `elsewhere`.
inline void check_thresholds(std::string_view id, const std::vector<Flip>& flips,
                             const std::set<std::string>& elsewhere = {}) {
  const std::span<const Rule> rules = all_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.id == id; });
  REQUIRE_MESSAGE(rule != rules.end(), id, " is not a rule");
  std::set<std::string> tested = elsewhere;
  for (const Flip& flip : flips) {
    CHECK_MESSAGE(tested.insert(flip.threshold).second, flip.threshold, " is tested twice");
    check_flip(*rule, flip);
  }
  for (const Threshold& threshold : rule->thresholds) {
    CHECK_MESSAGE(tested.erase(std::string(threshold.name)) == 1, threshold.name, " is not tested");
  }
  for (const std::string& stale : tested) FAIL_CHECK(stale, " is not a threshold of ", id);
}

}  // namespace doctor::rule_test
