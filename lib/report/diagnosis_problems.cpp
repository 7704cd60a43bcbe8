#include "diagnose/budgets.h"
#include "report/page.h"
#include "report/problem.h"
#include "report/report.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

/// The subject without what belongs to one machine: hosts and files are left out, of a device its kind is kept.
std::string stable_subject(const std::string& subject) {
  constexpr std::string_view kDevice = "/device:";
  if (subject.starts_with("Iterator::")) return fold_like_elements(subject);
  const std::size_t device = subject.find(kDevice);
  if (device == std::string::npos) return {};
  const std::size_t kind = device + kDevice.size();
  return subject.substr(kind, subject.find(':', kind) - kind);
}

ProblemLocation location_of(const Measurements& measurements, const Judgement& judgement, const Finding& finding,
                            const ProblemContext& context) {
  const SourceLine* const line = source_of(measurements, judgement, finding);
  if (line != nullptr) {
    if (std::optional<ProblemLocation> place = location_in_repository(*line, context.source, context.working_directory))
      return *std::move(place);
  }
  if (context.source) return *context.source;
  const std::size_t host = finding.host.value_or(0);
  const bool is_known = host < measurements.hosts.size() && !measurements.hosts[host].files.empty();
  return {trace_location(is_known ? measurements.hosts[host].files.front().path : "", context.working_directory)};
}

/// Suppressed or not.
bool is_failure(const Finding& finding, std::optional<Severity> fail_on) {
  return fail_on && finding.severity >= *fail_on;
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
  problem.location = location_of(measurements, judgement, finding, context);
  problem.fails = is_failure(finding, context.fail_on);
  if (finding.suppressed) problem.suppressed = finding.suppressed->reason;
  if (finding.host) problem.host = measurements.hosts[*finding.host].name();
  if (finding.pipeline) {
    const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
    const HostMeasurement& host = measurements.hosts[judged.host];
    const IteratorId root = host.pipelines[judged.pipeline].root;
    if (root != kNoIterator) problem.pipeline = host.iterators[root].long_name;
  }
  problem.identity = stable_subject(problem.subject) + '\n' + problem.pipeline;
  return problem;
}

constexpr std::string_view kBudgetRule = "budget";

/// Budgets that are exceeded, as problems of a rule of their own.
void add_budgets(const Measurements& measurements, const Diagnosis& diagnosis, const ProblemContext& context,
                 ProblemReport& report) {
  if (diagnosis.budgets.empty()) return;
  report.rules.push_back(
      {std::string(kBudgetRule), "a number of the pipeline is over its budget, or a rule fires that must not",
       "Budgets are set in .tfdata-doctor.toml, or with options: docs/configuration.md.\n", Severity::error});
  for (const BudgetResult& result : diagnosis.budgets) {
    const std::string words = describe_budget(measurements, diagnosis.judgement, result);
    if (!result.value) report.not_evaluated.push_back({std::string(kBudgetRule), words});
    if (!result.is_exceeded()) continue;
    Problem problem;
    problem.rule = kBudgetRule;
    problem.severity = Severity::error;
    problem.message = words;
    problem.location = location_of(measurements, diagnosis.judgement, {}, context);
    problem.fails = true;
    problem.identity =
        std::string(name_of(result.budget.kind)) + '\n' + result.budget.pipeline + '\n' + result.budget.rule;
    report.problems.push_back(std::move(problem));
  }
}

}  // namespace

std::string verdict_words(VerdictStatus status) {
  using enum VerdictStatus;
  return std::string(word_of(status, {{input_bound, "INPUT-BOUND"},
                                      {healthy, "NOT INPUT-BOUND"},
                                      {no_input_pipeline, "NO INPUT PIPELINE"},
                                      {inconclusive, "INCONCLUSIVE"}}));
}

ProblemOutcome outcome_of(const Diagnosis& diagnosis, std::optional<Severity> fail_on) {
  const VerdictStatus status = diagnosis.judgement.status;
  if (status == VerdictStatus::no_input_pipeline || status == VerdictStatus::inconclusive) {
    return ProblemOutcome::nothing_to_judge;
  }
  const bool has_failure = std::ranges::any_of(
      diagnosis.findings, [&](const Finding& finding) { return is_failure(finding, fail_on) && !finding.suppressed; });
  const bool is_over_budget =
      std::ranges::any_of(diagnosis.budgets, [](const BudgetResult& result) { return result.is_exceeded(); });
  if (has_failure || is_over_budget) return ProblemOutcome::failed;
  return outcome_of(diagnosis.budgets) == BudgetOutcome::unknown ? ProblemOutcome::nothing_to_judge
                                                                 : ProblemOutcome::passed;
}

ProblemReport problems_of(const Measurements& measurements, const Diagnosis& diagnosis, const ProblemContext& context) {
  ProblemReport report;
  report.command = "diagnose";
  report.verdict = verdict_words(diagnosis.judgement.status);
  report.summary = summarize(measurements, diagnosis);
  for (const CatalogEntry& entry : context.catalog) {
    const std::string url(entry.rule.follows.empty() ? std::string_view() : entry.rule.follows.front().url);
    report.rules.push_back(
        {std::string(entry.rule.id), std::string(entry.rule.summary), std::string(entry.page), Severity::warning, url});
  }
  for (const Finding& finding : diagnosis.findings) {
    report.problems.push_back(problem_of(measurements, diagnosis.judgement, finding, context));
  }
  add_budgets(measurements, diagnosis, context, report);
  report.picture = pace_lines(pace_of(measurements, diagnosis), {});
  set_fingerprints(report.problems);
  std::ranges::copy(diagnosis.not_evaluated, std::back_inserter(report.not_evaluated));
  report.settings_note = diagnosis.settings_note;
  report.outcome = outcome_of(diagnosis, context.fail_on);
  return report;
}

}  // namespace doctor
