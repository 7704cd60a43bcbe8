#include "diagnose/budgets.h"

#include <iterator>

#include "base/nearest.h"
#include "diagnose/recording.h"

namespace doctor {
namespace {

constexpr std::string_view kHost = "host:";
constexpr std::string_view kDevice = "device:";

struct JudgedPipeline : PipelineView {
  std::size_t index;  ///< into Judgement::pipelines

  bool has(std::string_view long_name) const {
    return any_long_name([&](std::string_view name) { return name == long_name; });
  }

  template <typename Test>
  bool any_long_name(const Test& test) const {
    return std::any_of(pipeline.members.begin(), pipeline.members.end(),
                       [&](IteratorId member) { return test(host.iterators[member].long_name); });
  }

  bool fits(std::string_view pattern) const {
    if (pattern.starts_with(kHost) || pattern.starts_with(kDevice)) {
      if (pattern.starts_with(kDevice) != pipeline.is_device) return false;
      pattern.remove_prefix(pattern.find(':') + 1);
    }
    return any_long_name([&](std::string_view name) { return matches_glob(pattern, name); });
  }
};

std::vector<JudgedPipeline> judged_pipelines(const Measurements& measurements, const Judgement& judgement) {
  std::vector<JudgedPipeline> pipelines;
  for (const PipelineJudgement& judged : judgement.pipelines) {
    pipelines.push_back({view_of(measurements, judged), pipelines.size()});
  }
  return pipelines;
}

BudgetResult not_evaluated(const Budget& budget, NotEvaluatedBecause because,
                           std::optional<std::size_t> pipeline = {}) {
  return {budget, pipeline, std::nullopt, because};
}

BudgetResult doubtful(const Budget& budget, NotEvaluatedBecause because, Doubt doubt,
                      std::optional<std::size_t> pipeline) {
  BudgetResult result = not_evaluated(budget, because, pipeline);
  result.doubt = std::move(doubt);
  return result;
}

BudgetResult nothing_fits(const Budget& budget) {
  return not_evaluated(budget,
                       budget.pipeline.empty() ? NotEvaluatedBecause::no_calls : NotEvaluatedBecause::no_pipeline_fits);
}

/// The measured number of a pipeline that is worth trusting: its verdict is known. That a limit is kept must be surer
/// than that it is exceeded: a gate that lets a slow pipeline pass is noticed by nobody.
BudgetResult measure_budget(const Budget& budget, const JudgedPipeline& judged, double min_confidence) {
  if (judged.pipeline.calls.empty()) {
    return not_evaluated(budget, NotEvaluatedBecause::no_calls_of_pipeline, judged.index);
  }
  if (judged.judgement.level == InputLevel::unknown) {
    return doubtful(budget, NotEvaluatedBecause::doubt, judged.judgement.doubt, judged.index);
  }
  const double value = budget.kind == BudgetKind::input_share
                           ? judged.judgement.lost_share.value_or(judged.pipeline.input_share())
                           : to_microseconds(judged.pipeline.p95);
  const double confidence = judged.judgement.confidence.total();
  if (value <= budget.limit && confidence < min_confidence) {
    BudgetResult result = doubtful(budget, NotEvaluatedBecause::proves_little, judged.judgement.doubt, judged.index);
    result.confidence = confidence;
    result.min_confidence = min_confidence;
    return result;
  }
  return {budget, judged.index, value};
}

/// Which budget of a kind is for the pipeline: the last that names it, else the one for all. What only feeds another
/// pipeline is part of that one's waits, and what runs beside the training is not its input: such have only budgets
/// that name them.
const Budget* budget_for(const JudgedPipeline& judged, std::span<const Budget> budgets, BudgetKind kind) {
  const Budget* chosen = nullptr;
  for (const Budget& budget : budgets) {
    if (budget.kind != kind) continue;
    const bool is_for_all = budget.pipeline.empty();
    if (is_for_all ? !judged.pipeline.is_input_of_job() || judged.pipeline.calls.empty()
                   : !judged.fits(budget.pipeline)) {
      continue;
    }
    if (chosen == nullptr || !is_for_all) chosen = &budget;
  }
  return chosen;
}

void check_numbers(std::span<const JudgedPipeline> pipelines, std::span<const Budget> budgets, BudgetKind kind,
                   double min_confidence, std::vector<BudgetResult>& results) {
  const std::size_t first = results.size();
  for (const JudgedPipeline& judged : pipelines) {
    if (const Budget* const budget = budget_for(judged, budgets, kind)) {
      results.push_back(measure_budget(*budget, judged, min_confidence));
    }
  }
  for (const Budget& budget : budgets) {
    if (budget.kind != kind) continue;
    const auto has_result = [&](const BudgetResult& result) { return result.budget.replaces(budget); };
    const bool is_told = std::any_of(results.begin() + static_cast<std::ptrdiff_t>(first), results.end(), has_result);
    // A budget for all pipelines has nothing to say where each has one of its own.
    const bool is_replaced = budget.pipeline.empty() && results.size() > first;
    if (!is_told && !is_replaced) results.push_back(nothing_fits(budget));
  }
}

/// Whether the finding is about this pipeline: about one of its iterators, else by what its rule asked.
bool is_about(const Finding& finding, const JudgedPipeline& judged, const Diagnosis& diagnosis) {
  if (!finding.subject.empty()) return judged.has(finding.subject);
  for (const RuleInquiries& rule : diagnosis.inquiries) {
    if (rule.rule != finding.rule) continue;
    return std::any_of(rule.inquiries.begin(), rule.inquiries.end(), [&](const Inquiry& inquiry) {
      return inquiry.has_finding && inquiry.pipeline.value_or(judged.index) == judged.index;
    });
  }
  return true;
}

BudgetResult count_findings(const Budget& budget, const Diagnosis& diagnosis, const JudgedPipeline* judged) {
  const auto counts = [&](const Finding& finding) {
    return finding.rule == budget.rule && !finding.suppressed &&
           (judged == nullptr || is_about(finding, *judged, diagnosis));
  };
  const auto count = std::count_if(diagnosis.findings.begin(), diagnosis.findings.end(), counts);
  const std::optional<std::size_t> index = judged == nullptr ? std::nullopt : std::optional(judged->index);
  return {budget, index, static_cast<double>(count)};
}

void check_rule(std::span<const JudgedPipeline> pipelines, const Budget& budget, const Diagnosis& diagnosis,
                std::vector<BudgetResult>& results) {
  const auto missing =
      std::find_if(diagnosis.not_evaluated.begin(), diagnosis.not_evaluated.end(),
                   [&](const NotEvaluated& rule) { return rule.rule == budget.rule && !rule.is_inapplicable; });
  if (missing != diagnosis.not_evaluated.end()) {
    results.push_back(not_evaluated(budget, NotEvaluatedBecause::rule_misses));
    results.back().rule_misses = missing->reason;
    return;
  }
  if (budget.pipeline.empty()) {
    results.push_back(count_findings(budget, diagnosis, nullptr));
    return;
  }
  bool fits = false;
  for (const JudgedPipeline& judged : pipelines) {
    if (!judged.fits(budget.pipeline)) continue;
    fits = true;
    results.push_back(count_findings(budget, diagnosis, &judged));
  }
  if (!fits) results.push_back(nothing_fits(budget));
}

/// A call that takes so many times as long as any other has a wrong time, or is a stall of which the window does not
/// tell how often it comes. Source: of the steady calls of 291 recorded pipelines the longest is up to 19 times as long
/// as any other, and 100 times and more in three.
constexpr Picoseconds kOutOfProportion = 30;

/// The call that alone takes a pipeline over `limit`, a share of the time, and is out of all proportion; nullopt: none.
std::optional<doubts::OneCallDecides> deciding_call(const PipelineMeasurement& pipeline, double limit) {
  const CadenceShare& all = pipeline.judged_cadence();
  const CadenceShare& without = pipeline.judged_trimmed_cadence();
  if (!without.without_call || all.share <= limit) return std::nullopt;
  const std::size_t call = *without.without_call;
  const auto length_of = [](Interval one) { return one.end - one.start; };
  const Picoseconds length = length_of(pipeline.calls[call]);
  for (std::size_t other = pipeline.warmup_count; other < pipeline.calls.size(); ++other) {
    if (other != call && length_of(pipeline.calls[other]) * kOutOfProportion > length) return std::nullopt;
  }
  return doubts::OneCallDecides{pipeline.steady.call_count, all.share, without.share, length, call + 1};
}

/// Why the pipeline, or one of all where none is given, may go over a budget that it was seen to keep.
Doubt doubt_about_keeping(const BudgetResult& result, std::span<const JudgedPipeline> pipelines, double min_share) {
  const double limit = result.budget.kind == BudgetKind::input_share ? result.budget.limit : min_share;
  for (const JudgedPipeline& judged : pipelines) {
    if (result.pipeline.value_or(judged.index) != judged.index || !judged.pipeline.is_input_of_job()) continue;
    if (const auto call = deciding_call(judged.pipeline, limit)) return *call;
  }
  return {};
}

/// What a torn file shows may be over a budget. That it keeps to one could as well be because of what is missing.
void doubt_met_budgets(const Measurements& measurements, std::span<const JudgedPipeline> pipelines, double min_share,
                       std::vector<BudgetResult>& results) {
  const std::optional<doubts::TornFile> torn = torn_file(measurements);
  for (BudgetResult& result : results) {
    if (!result.value || result.is_exceeded()) continue;
    Doubt doubt = torn ? Doubt(*torn) : doubt_about_keeping(result, pipelines, min_share);
    if (!is_known(doubt)) continue;
    result = doubtful(result.budget, NotEvaluatedBecause::doubt, std::move(doubt), result.pipeline);
  }
}

bool fits(const Suppression& suppression, const Finding& finding) {
  return suppression.rule == finding.rule &&
         (suppression.subject.empty() || matches_glob(suppression.subject, finding.subject));
}

}  // namespace

std::vector<Budget> budgets_in_force(std::span<const Budget> budgets) {
  std::vector<Budget> in_force;
  for (const Budget& budget : budgets) {
    std::erase_if(in_force, [&](const Budget& earlier) { return budget.replaces(earlier); });
    in_force.push_back(budget);
  }
  return in_force;
}

std::vector<BudgetResult> check_budgets(const Measurements& measurements, const Diagnosis& diagnosis,
                                        std::span<const Budget> budgets) {
  const std::vector<Budget> in_force = budgets_in_force(budgets);
  const std::vector<JudgedPipeline> pipelines = judged_pipelines(measurements, diagnosis.judgement);
  std::vector<BudgetResult> results;
  // Where nothing was judged no threshold is in force, and none is needed.
  const double min_confidence = pipelines.empty() ? 0 : diagnosis.thresholds["min_budget_confidence"];
  const double min_share = pipelines.empty() ? 0 : diagnosis.thresholds["min_share"];
  check_numbers(pipelines, in_force, BudgetKind::input_share, min_confidence, results);
  check_numbers(pipelines, in_force, BudgetKind::get_next_p95, min_confidence, results);
  for (const Budget& budget : in_force) {
    if (budget.kind == BudgetKind::forbidden_rule) check_rule(pipelines, budget, diagnosis, results);
  }
  doubt_met_budgets(measurements, pipelines, min_share, results);
  return results;
}

BudgetOutcome outcome_of(std::span<const BudgetResult> results) {
  if (std::any_of(results.begin(), results.end(), [](const BudgetResult& result) { return result.is_exceeded(); })) {
    return BudgetOutcome::exceeded;
  }
  const bool all_evaluated = std::all_of(results.begin(), results.end(), [&](const BudgetResult& result) {
    return std::any_of(results.begin(), results.end(),
                       [&](const BudgetResult& other) { return other.budget.replaces(result.budget) && other.value; });
  });
  return all_evaluated ? BudgetOutcome::met : BudgetOutcome::unknown;
}

std::string_view name_of(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::input_share:
      return "max_input_share";
    case BudgetKind::get_next_p95:
      return "max_get_next_p95_us";
    case BudgetKind::forbidden_rule:
      break;
  }
  return "rules_must_not_fire";
}

std::string_view unit_of(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::input_share:
      return "share";
    case BudgetKind::get_next_p95:
      return "us";
    case BudgetKind::forbidden_rule:
      break;
  }
  return "findings";
}

IdleSuppressions suppress(std::vector<Finding>& findings, std::span<const Suppression> suppressions,
                          std::chrono::year_month_day today) {
  IdleSuppressions idle;
  for (const Suppression& suppression : suppressions) {
    if (suppression.expires && *suppression.expires < today) {
      idle.expired.push_back(suppression);
      continue;
    }
    bool is_used = false;
    for (Finding& finding : findings) {
      if (!fits(suppression, finding)) continue;
      is_used = true;
      if (!finding.suppressed) finding.suppressed = suppression;
    }
    if (!is_used) idle.unused.push_back(suppression);
  }
  return idle;
}

FindingRefs findings_that_count(std::span<const Finding> findings) {
  FindingRefs counting;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(counting),
               [](const Finding& finding) { return !finding.suppressed; });
  return counting;
}

}  // namespace doctor
