#include "report/json_values.h"
#include "report/report.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"

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

constexpr std::size_t kMostHints = 2;

std::string title_of_fix(const FixAnswer& fix) {
  return fix.instead_of ? fmt::format("Instead of fix {}: {}", *fix.instead_of + 1, fix.advice->text.action)
                        : fix.advice->text.action;
}

/// Why it is not known what the advice brings; nothing where nobody waits.
void add_missing_gain(const Advice& advice, TextPage& page) {
  const std::string_view why = describe(advice.no_gain_because);
  if (!why.empty()) page.row("", fmt::format("gain not known: {}", why));
}

/// What a fix brings, or why that is not known.
void add_gain(const FixAnswer& fix, std::size_t number, Detail detail, TextPage& page) {
  if (!fix.gain) return detail == Detail::full ? add_missing_gain(*fix.advice, page) : void();
  GainWords words = words_of(*fix.gain, fix.rate_before);
  if (fix.adds_up) words.rest = number == 2 ? " with fix 1" : " with the fixes before it";
  if (fix.is_unproven) words.rest += ". Unproven: no epoch ended in this recording";
  page.gain(words.before, words.after, words.rest);
}

void add_fix(const FixAnswer& fix, std::size_t number, Detail detail, std::string& versions, TextPage& page) {
  page.titled_row(fmt::format("Fix {}", number), title_of_fix(fix), fix.finding->rule);
  if (detail == Detail::full && !fix.advice->text.detail.empty()) page.row("", fix.advice->text.detail);
  if (fix.advice->code) page.code(code_lines(*fix.advice->code, kCodeWidth));
  add_gain(fix, number, detail, page);
  if (!fix.advice->versions.empty() && fix.advice->versions != versions) page.row("", fix.advice->versions);
  versions = fix.advice->versions;
}

/// How many fixes are not shown, and what the best of them brings if that is more than what the shown ones do.
void add_more(const Answer& answer, std::size_t shown, TextPage& page) {
  constexpr double kClearlyMore = 1.1;
  if (shown >= answer.fixes.size()) return;
  const std::size_t more = answer.fixes.size() - shown;
  double best_shown = 1;
  double best = 1;
  for (std::size_t index = 0; index < answer.fixes.size(); ++index) {
    const std::optional<Gain>& gain = answer.fixes[index].gain;
    if (gain) (index < shown ? best_shown : best) = std::max(index < shown ? best_shown : best, gain->factor());
  }
  std::string text = more == 1 ? "1 more fix" : fmt::format("{} more fixes", more);
  if (best > kClearlyMore * best_shown) text += fmt::format(", {}{}", more == 1 ? "" : "up to ", format_factor(best));
  page.row("Also", text + ": -v");
}

/// Where there is no change to make: what the first findings advise.
void add_hints(const Diagnosis& diagnosis, TextPage& page) {
  std::size_t shown = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.suppressed || finding.severity == Severity::note || finding.advice.empty()) continue;
    page.titled_row(fmt::format("Fix {}", ++shown), finding.advice.front().text.action, finding.rule);
    if (!finding.states_verdict) page.row("", finding.message);
    if (finding.advice.front().code) page.code(code_lines(*finding.advice.front().code, kCodeWidth));
    if (shown == kMostHints) return;
  }
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
  if (!result.value) {
    const std::string cure = remedy_of(result.doubt, measurements).sentence;
    return fmt::format("{} is not evaluated: {}{}{}", subject, why_not_evaluated(result, measurements),
                       cure.empty() ? "" : ". ", cure);
  }
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
  const std::string rules = joined(count_of_rule, ", ", [](const auto& rule) { return rule.first; });
  page.row("Accept", fmt::format("{} suppressed (-v says why): {}", format_count(count, "finding"), rules));
}

void add_advice(const Advice& advice, TextPage& page) {
  page.row("Fix", advice.text.whole());
  if (advice.code) page.code(code_lines(*advice.code, kCodeWidth));
  if (!advice.versions.empty()) page.row("", advice.versions);
  if (advice.gain) page.row("", describe_gain(*advice.gain));
  add_missing_gain(advice, page);
}

void add_fixes(const Answer& answer, const Diagnosis& diagnosis, std::size_t most, Detail detail, TextPage& page) {
  if (answer.fixes.empty()) return add_hints(diagnosis, page);
  const std::size_t shown = std::min(most, answer.fixes.size());
  std::string versions;  // of the fix above: said once for those that agree
  for (std::size_t index = 0; index < shown; ++index) add_fix(answer.fixes[index], index + 1, detail, versions, page);
  add_more(answer, shown, page);
}

}  // namespace doctor
