#include "report/diagnosis_problems.h"

#include <algorithm>

#include "report/repository_path.h"
#include "report/selection.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

std::string verdict_words(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::input_bound:
      return "INPUT-BOUND";
    case VerdictStatus::healthy:
      return "NOT INPUT-BOUND";
    case VerdictStatus::no_input_pipeline:
      return "NO INPUT PIPELINE";
    case VerdictStatus::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

/// The subject without what belongs to one machine: hosts and files are left out, of a device its kind is kept.
std::string stable_subject(const std::string& subject) {
  constexpr std::string_view kDevice = "/device:";
  if (subject.starts_with("Iterator::")) return fold_like_elements(subject);
  const std::size_t device = subject.find(kDevice);
  if (device == std::string::npos) return {};
  const std::size_t kind = device + kDevice.size();
  return subject.substr(kind, subject.find(':', kind) - kind);
}

ProblemLocation location_of(const Measurements& measurements, const Finding& finding, const ProblemContext& context) {
  if (context.source) return *context.source;
  const std::size_t host = finding.host.value_or(0);
  const bool is_known = host < measurements.hosts.size() && !measurements.hosts[host].files.empty();
  return {trace_location(is_known ? measurements.hosts[host].files.front().path : "", context.working_directory)};
}

Problem problem_of(const Measurements& measurements, const Judgement& judgement, const Finding& finding,
                   const ProblemContext& context) {
  Problem problem;
  problem.rule = finding.rule;
  problem.severity = finding.severity;
  problem.subject = finding.subject;
  problem.message = finding.message;
  problem.evidence = finding.evidence;
  problem.advice = finding.advice;
  problem.location = location_of(measurements, finding, context);
  problem.fails = context.fail_on && finding.severity >= *context.fail_on;
  if (finding.host) problem.host = host_name(measurements.hosts[*finding.host]);
  if (finding.pipeline) {
    const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
    const HostMeasurement& host = measurements.hosts[judged.host];
    const IteratorId root = host.pipelines[judged.pipeline].root;
    if (root != kNoIterator) problem.pipeline = host.iterators[index_of(root)].long_name;
  }
  problem.identity = stable_subject(problem.subject) + '\n' + problem.pipeline;
  return problem;
}

ProblemOutcome outcome_of(VerdictStatus status, const std::vector<Problem>& problems) {
  if (status == VerdictStatus::no_input_pipeline || status == VerdictStatus::inconclusive) {
    return ProblemOutcome::nothing_to_judge;
  }
  const bool has_failed =
      std::any_of(problems.begin(), problems.end(), [](const Problem& problem) { return problem.counts_as_failure(); });
  return has_failed ? ProblemOutcome::failed : ProblemOutcome::passed;
}

}  // namespace

ProblemReport problems_of(const Measurements& measurements, const Diagnosis& diagnosis, const ProblemContext& context) {
  ProblemReport report;
  report.command = "diagnose";
  report.verdict = verdict_words(diagnosis.judgement.status);
  report.summary = summarize(measurements, diagnosis.judgement);
  for (const CatalogEntry& entry : context.catalog) {
    report.rules.push_back(
        {std::string(entry.rule.id), std::string(entry.rule.summary), std::string(entry.page), Severity::warning});
  }
  for (const Finding& finding : diagnosis.findings) {
    report.problems.push_back(problem_of(measurements, diagnosis.judgement, finding, context));
  }
  set_fingerprints(report.problems);
  for (const NotEvaluated& rule : diagnosis.not_evaluated) report.not_evaluated.push_back({rule.rule, rule.reason});
  report.outcome = outcome_of(diagnosis.judgement.status, report.problems);
  return report;
}

}  // namespace doctor
