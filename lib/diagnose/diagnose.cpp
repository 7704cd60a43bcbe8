#include "diagnose/diagnose.h"

#include "diagnose/judgement.h"
#include "diagnose/loaders.h"
#include "diagnose/spelling.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

/// Of each rule.
std::vector<ThresholdValues> values_of_rules(std::span<const Rule> rules, const ThresholdSettings& settings) {
  std::vector<ThresholdValues> values;
  values.reserve(rules.size());
  for (const Rule& rule : rules) values.push_back(values_in_force(rule.id, rule.thresholds, settings));
  return values;
}

/// The values in force of what the verdict and pages use: thresholds of the rule that states the verdict, and those
/// that rules share with them. `values`: indexed as the rules.
ThresholdValues judgement_values(std::span<const Rule> rules, const std::vector<ThresholdValues>& values) {
  static const std::vector<Threshold> kDefaults = judgement_thresholds();
  ThresholdValues judging(kDefaults, {});
  for (std::size_t index = 0; index < rules.size(); ++index) {
    for (const Threshold& threshold : rules[index].thresholds) {
      const std::string_view name = rules[index].states_verdict ? threshold.name : threshold.shared_as;
      if (!name.empty()) judging.set(name, values[index][threshold.name]);
    }
  }
  return judging;
}

/// The inquiry for which a rule could not be evaluated: it found nothing, and missed something it needed. Null if it
/// could be.
const Inquiry* missing_evidence(const RuleResult& result) {
  if (!result.findings.empty()) return nullptr;
  const auto found = std::find_if(result.inquiries.begin(), result.inquiries.end(),
                                  [](const Inquiry& inquiry) { return !inquiry.missing.empty(); });
  return found == result.inquiries.end() ? nullptr : &*found;
}

/// Of the rule that compares hosts.
ThresholdValues comparison_values(std::span<const Rule> rules, const ThresholdSettings& settings) {
  static const std::vector<Threshold> kThresholds = straggler_thresholds();
  const auto comparing = std::find_if(rules.begin(), rules.end(), [](const Rule& rule) { return rule.compares_hosts; });
  return comparing == rules.end() ? ThresholdValues(kThresholds, {})
                                  : values_in_force(comparing->id, kThresholds, settings);
}

/// Tests whether the pages that rules follow, which are TensorFlow's, are about what the finding names.
bool has_guides(const Measurements& measurements, const Judgement& judgement, const Finding& finding) {
  if (!finding.pipeline) return !is_of_torch(measurements);
  const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
  return !has_other_loader(measurements.hosts[judged.host].pipelines[judged.pipeline]);
}

void keep_findings(const Rule& rule, const Measurements& measurements, std::vector<Finding>& found,
                   Diagnosis& diagnosis) {
  std::vector<Finding>& findings = diagnosis.findings;
  // Just as many: there may be one for each of thousands of pipelines.
  findings.reserve(findings.size() + found.size());
  for (Finding& finding : found) {
    finding.rule = rule.id;
    finding.states_verdict = rule.states_verdict;
    finding.depends_on_load = rule.judges_load;
    if (has_guides(measurements, diagnosis.judgement, finding)) finding.follows = rule.follows;
    findings.push_back(std::move(finding));
  }
}

/// What a report says of a rule beside its findings.
void keep_inquiries(const Rule& rule, std::chrono::nanoseconds duration, RuleResult& result, Diagnosis& diagnosis) {
  diagnosis.timings.push_back({std::string(rule.id), duration});
  if (const Inquiry* const inquiry = missing_evidence(result); inquiry != nullptr) {
    diagnosis.not_evaluated.push_back({std::string(rule.id), inquiry->missing, inquiry->is_inapplicable});
  }
  diagnosis.inquiries.push_back({std::string(rule.id), std::move(result.inquiries)});
}

}  // namespace

Diagnosis diagnose(const Measurements& measurements, std::span<const Rule> rules, const ThresholdSettings& settings,
                   DiagnosisScope scope) {
  Diagnosis diagnosis;
  const std::vector<ThresholdValues> values = values_of_rules(rules, settings);
  diagnosis.thresholds = judgement_values(rules, values);
  Throughputs& throughputs = diagnosis.throughputs;
  for (const HostMeasurement& host : measurements.hosts) throughputs.emplace_back(host, scope);
  diagnosis.judgement = judge(measurements, diagnosis.thresholds, throughputs);
  diagnosis.hosts = compare_hosts(measurements, diagnosis.judgement, comparison_values(rules, settings));
  const bool is_for_report = scope != DiagnosisScope::row;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Rule& rule = rules[index];
    const auto begin = std::chrono::steady_clock::now();
    RuleResult result = rule.check({measurements, diagnosis.judgement, values[index], is_for_report});
    const auto duration = std::chrono::steady_clock::now() - begin;
    if (is_for_report) keep_inquiries(rule, duration, result, diagnosis);
    keep_findings(rule, measurements, result.findings, diagnosis);
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, b.is_easy, b.at_stake, a.rule, a.subject) <
           std::tie(a.severity, a.is_easy, a.at_stake, b.rule, b.subject);
  });
  const bool has_gains = scope != DiagnosisScope::findings;
  if (has_gains) predict_gains(throughputs, diagnosis.judgement, diagnosis.thresholds["min_gain"], diagnosis.findings);
  spell_for_hosts(measurements, is_for_report, diagnosis.findings);
  order_by_changes(diagnosis.findings);
  if (has_gains) diagnosis.changes = rank_changes(throughputs, diagnosis.findings);
  std::sort(diagnosis.not_evaluated.begin(), diagnosis.not_evaluated.end(),
            [](const NotEvaluated& a, const NotEvaluated& b) { return a.rule < b.rule; });
  return diagnosis;
}

}  // namespace doctor
