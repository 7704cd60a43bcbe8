#include "report/json_values.h"
#include "report/text_parts.h"
#include "text/timestamp.h"
#include "words/doubt_words.h"

namespace doctor {
namespace {

/// "max_input_share", "rules_must_not_fire slow-source".
std::string title_of(const Budget& budget) {
  std::string title(name_of(budget.kind));
  if (!budget.rule.empty()) title += " " + budget.rule;
  return title;
}

/// " in pipeline 0:1", " in '*::Shuffle*'" where none fits; empty if it is about the whole trace.
std::string place_of(const Measurements& measurements, const Judgement& judgement, const BudgetResult& result) {
  if (result.pipeline) {
    const PipelineView view = pipelines_of(measurements, judgement)[*result.pipeline];
    return " in pipeline " + pipeline_id(view);
  }
  return result.budget.pipeline.empty() ? std::string() : " in '" + result.budget.pipeline + "'";
}

}  // namespace

std::string why_not_evaluated(const BudgetResult& result, const Measurements& measurements) {
  const std::string doubt = describe_doubt(result.doubt, measurements);
  switch (result.because) {
    case NotEvaluatedBecause::no_calls:
      return "nothing in the trace takes elements from a pipeline";
    case NotEvaluatedBecause::no_pipeline_fits:
      return "no pipeline of the trace fits '" + result.budget.pipeline + "'";
    case NotEvaluatedBecause::no_calls_of_pipeline:
      return "nobody was seen to take its elements";
    case NotEvaluatedBecause::doubt:
      return doubt.empty() ? "too little was seen of it" : doubt;
    case NotEvaluatedBecause::proves_little:
      return fmt::format("this trace keeps to it, but proves little (confidence {:.2f}, and a budget needs {:.2f}): {}",
                         result.confidence, result.min_confidence, doubt);
    case NotEvaluatedBecause::rule_misses:
      return result.rule_misses;
    case NotEvaluatedBecause::evaluated:
      break;
  }
  return {};
}

std::string describe_budget(const Measurements& measurements, const Judgement& judgement, const BudgetResult& result) {
  const std::string subject = title_of(result.budget) + place_of(measurements, judgement, result);
  if (!result.value) return fmt::format("{} is not evaluated: {}", subject, why_not_evaluated(result, measurements));
  const std::string state = result.is_exceeded() ? "is exceeded" : "is met";
  if (result.budget.kind == BudgetKind::forbidden_rule) {
    const auto count = static_cast<std::uint64_t>(*result.value);
    return fmt::format("{} {}: {}", subject, state, count == 0 ? "no finding" : format_count(count, "finding"));
  }
  const std::string_view unit = unit_of(result.budget.kind);
  return fmt::format("{} {}: {}, at most {}", subject, state, format_quantity(*result.value, unit),
                     format_quantity(result.budget.limit, unit));
}

void add_budgets(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, TextPage& page) {
  for (const BudgetResult& result : diagnosis.budgets) {
    const bool is_met = result.value && !result.is_exceeded();
    if (is_met && detail != Detail::full) continue;
    page.row("Budget", describe_budget(measurements, diagnosis.judgement, result));
  }
}

void add_suppressed(const Diagnosis& diagnosis, Detail detail, TextPage& page) {
  std::map<std::string, std::size_t> count_of_rule;
  std::size_t count = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.suppressed) continue;
    ++count;
    ++count_of_rule[finding.rule];
    if (detail != Detail::full) continue;
    std::string text = fmt::format("{}: {} ({}", finding.rule, finding.message, finding.suppressed->reason);
    if (finding.suppressed->expires) text += ", until " + to_date(*finding.suppressed->expires);
    page.row("Accept", text + ")");
  }
  if (count == 0 || detail == Detail::full) return;
  std::string rules;
  for (const auto& [rule, times] : count_of_rule) rules += (rules.empty() ? "" : ", ") + rule;
  page.row("Accept", fmt::format("{} suppressed (-v says why): {}", format_count(count, "finding"), rules));
}

}  // namespace doctor
