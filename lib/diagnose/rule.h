#pragma once

#include <string_view>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/inquiry.h"
#include "diagnose/judgement_types.h"
#include "diagnose/reference.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// What a rule may look at.
struct RuleContext {
  const Measurements& measurements;
  const Judgement& judgement;
  const ThresholdValues& thresholds;  ///< of this rule
  bool keeps_questions = true;        ///< what the rule asks is for a page, and not only what it finds

  const HostMeasurement& host(const PipelineJudgement& of) const { return measurements.hosts[of.host]; }
  const PipelineMeasurement& pipeline(const PipelineJudgement& of) const { return host(of).pipelines[of.pipeline]; }
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
