#include <fmt/format.h>

#include "diagnose/budgets.h"
#include "diagnose/loaders.h"
#include "diagnose/user_code.h"
#include "report/page.h"
#include "report/report.h"
#include "text/numbers.h"
#include "trace/torn.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

constexpr std::size_t kShownLosses = 3;

/// Where the step markers leave out much of the waits, or of the rest of the time, they yield a different share.
std::string share_of_markers(const PipelineMeasurement& pipeline) {
  constexpr double kWorthAWord = 0.05;
  if (!pipeline.step_share || std::abs(*pipeline.step_share - pipeline.cadence.share) < kWorthAWord) return {};
  return fmt::format("{} of the time inside the step markers; ", format_share(*pipeline.step_share));
}

Tone tone_of(const Verdict& verdict) {
  if (verdict.certainty != Certainty::sure) return Tone::unsure;
  return verdict.status == VerdictStatus::input_bound ? Tone::bad : Tone::good;
}

void add_doubt(const std::string& why, const Remedy& remedy, TextPage& page) {
  const std::string end = remedy.sentence.empty() ? std::string() : remedy.command.empty() ? "." : ":";
  page.row("Unsure", fmt::format("{}. {}{}", why, remedy.sentence, end));
  if (!remedy.command.empty()) page.command("", remedy.command);
}

/// Why the verdict may be wrong, and what to do about it.
void add_doubts(const Answer& answer, const Measurements& measurements, TextPage& page) {
  if (answer.filling_cache) {
    add_doubt(describe_filling_cache(answer.cause->pipeline.host, *answer.filling_cache),
              remedy_of_filling_cache(measurements), page);
  }
  if (!is_known(answer.doubt)) return;
  add_doubt(describe_doubt(answer.doubt, measurements), remedy_of(answer.doubt, measurements), page);
}

void add_cause(const Answer& answer, bool shows_evidence, TextPage& page) {
  if (answer.cause) {
    page.row("Cause", describe_cause(*answer.cause));
    const std::string pattern = describe_pattern(answer.cause->pipeline.pipeline);
    const std::string ops = describe_ops(answer.cause->ops);
    if (shows_evidence && !pattern.empty()) {
      page.row("Cause", pattern);
    } else if (shows_evidence && !ops.empty()) {
      page.row("Cause", "its time: " + ops);
    }
    const PipelineView& view = answer.cause->pipeline;
    const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
    const std::string stages = making == nullptr ? std::string() : describe_stages(*making);
    if (!stages.empty()) page.row("Stages", stages);
  }
  if (answer.rates) page.row("Speed", describe_rates(*answer.rates));
}

/// What the verdict rests on, with the field's own terms.
void add_details(const Answer& answer, const std::vector<PipelineView>& pipelines, TextPage& page) {
  if (pipelines.empty()) return;
  const PipelineView& worst = pipelines.front();
  page.empty_line();
  page.row("Calls", share_of_markers(worst.pipeline) + describe_calls(worst.pipeline) +
                        (worst.pipeline.exposed
                             ? fmt::format("; {} of the time in GetNext", format_share(worst.pipeline.cadence.share))
                             : ""));
  page.row("Sure", fmt::format("confidence {:.2f}; a verdict is sure from {:.2f} on",
                               worst.judgement.confidence.total(), kSureConfidence));
  if (const std::string limit = describe_limit(worst.host, worst.judgement.limit); !limit.empty()) {
    page.row("Limit", limit);
  }
  if (worst.judgement.rival != kNoIterator) {
    page.row("Limit",
             fmt::format("{} and {} gain about the same if they get faster",
                         describe(worst.host, worst.judgement.culprit), describe(worst.host, worst.judgement.rival)));
  }
  if (!answer.cause || answer.cause->iterator == kNoIterator) return;
  if (const std::string evidence = describe_evidence(worst.host, worst.judgement); !evidence.empty()) {
    page.row("Why", describe_culprit(worst) + " " + evidence);
  }
  const SourceLine* const line = worst.host.iterators[worst.judgement.culprit].line();
  if (line != nullptr && !line->code.empty()) page.row("Where", describe_line(*line));
  page.row("Where", describe_place(worst));
  if (const std::string function = describe_function(worst); !function.empty()) page.row("Ops", function);
  for (const std::string& pace :
       {describe_stalls(worst.host, worst.pipeline), describe_pace_change(worst.host, worst.pipeline)}) {
    if (!pace.empty()) page.row("Pattern", pace);
  }
  if (const std::string feeding = describe_feeding(worst); !feeding.empty()) page.row("Input", feeding);
  if (const std::string cores = describe_cores(worst); !cores.empty()) page.row("Cores", cores);
}

void add_loss(const Measurements& measurements, const Detail detail, TextPage& page) {
  for (const std::string& fault : source_lines_faults(measurements)) page.row("Lines", fault);
  const Loss loss = total_loss(measurements);
  std::string text;
  std::size_t shown = 0;
  for (const auto& [reason, count] : loss.counts) {
    if (++shown > kShownLosses && detail != Detail::full) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, format_count(count));
  }
  if (shown > kShownLosses && detail != Detail::full) text += fmt::format(" and {} more", shown - kShownLosses);
  if (!loss.complete()) page.row("Lost", text + "; the numbers are based on what is left");
  // Where nothing was lost they say what was read in place of a file that was named.
  if (detail != Detail::full && !loss.complete() && !is_limited_by_profiler(loss)) return;
  for (const std::string& note : loss.notes) page.row(loss.complete() ? "Note" : "Lost", note);
}

/// Every finding with what it rests on.
void add_findings(const Diagnosis& diagnosis, const FindingRefs& findings, TextPage& page) {
  for (const Finding& finding : findings) {
    page.empty_line();
    page.row("Finding", fmt::format("{}: {}", finding.rule, finding.message));
    if (!finding.subject.empty()) page.row("At", finding.subject);
    for (const Evidence& item : finding.evidence) {
      page.row("Shows", fmt::format("{}: {}", item.name, format_quantity(item.value, item.unit)));
    }
    for (const Advice& advice : finding.advice) add_advice(advice, page);
    for (const Reference& reference : finding.follows) {
      page.row("See", reference.title);
      page.command("", reference.url);
    }
    for (const Advice& advice : finding.without_gain) page.row("No gain", advice.text.action);
  }
  // Most rules miss the same thing.
  std::map<std::string_view, std::string> rules_of_reason;
  for (const NotEvaluated& rule : diagnosis.not_evaluated) {
    std::string& rules = rules_of_reason[rule.reason];
    rules += (rules.empty() ? "" : ", ") + rule.rule;
  }
  if (!rules_of_reason.empty()) page.empty_line();
  for (const auto& [reason, rules] : rules_of_reason) page.row("Unseen", fmt::format("{}: {}", reason, rules));
}

/// The command to run next.
void add_next(const Answer& answer, const TextStyle& style, std::size_t most_traces, TextPage& page) {
  const std::string_view command = answer.next == NextStep::try_fixes        ? "whatif"
                                   : answer.next == NextStep::look_elsewhere ? "show overview"
                                                                             : "show tree";
  page.command("Next", fmt::format("tfdata-doctor {}", command), style.rerun, most_traces);
}

void add_notes(const FindingRefs& findings, TextPage& page) {
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::note) page.row("Note", finding.message);
  }
}

/// What the reader's settings say of this run, and what is beside the verdict.
void add_rest(const Measurements& measurements, const Diagnosis& diagnosis, const std::vector<PipelineView>& pipelines,
              Detail detail, TextPage& page) {
  add_budgets(measurements, diagnosis, detail, page);
  add_suppressed(diagnosis, detail, page);
  if (detail == Detail::full || diagnosis.judgement.status == VerdictStatus::healthy) add_devices(measurements, page);
  add_left_out(measurements, page);
  if (detail == Detail::full) add_other_pipelines(pipelines, diagnosis.hosts, measurements.hosts.size() > 1, page);
  add_loss(measurements, detail, page);
}

/// How many fixes one screen holds, and whether there is room for evidence: chosen by what the answer has to say, not
/// by how it is printed.
struct ScreenPlan {
  std::size_t fixes = 1;
  bool shows_evidence = true;  ///< what the calls do over time, or what the function spends its time on
  bool is_airy = true;         ///< whether blank lines stand between the parts
  bool has_gap = true;         ///< whether one stands below the first line
};

std::size_t lines_of_code(const FixAnswer& fix) {
  return fix.advice->code ? code_lines(*fix.advice->code, kCodeWidth).size() : 0;
}

/// Of the rows that a fix takes: its title, its code, what it brings and on which condition.
std::size_t entries_of(const FixAnswer& fix) {
  const bool has_condition = fix.gain && fix.gain->then.condition != Condition::none;
  return 1 + lines_of_code(fix) + (fix.gain ? 1 : 0) + (has_condition ? 1 : 0);
}

/// What must be said before any evidence.
std::size_t entries_of(const Answer& answer, const Measurements& measurements, const Diagnosis& diagnosis,
                       std::size_t traces) {
  std::size_t count = 1 + std::max<std::size_t>(traces, 1);  // the first line and the last command
  if (answer.verdict.cost.takes != InputCost::Takes::nothing) ++count;
  if (answer.filling_cache) count += 3;
  if (is_known(answer.doubt)) count += remedy_of(answer.doubt, measurements).command.empty() ? 2 : 3;
  if (diagnosis.hosts.is_possible()) ++count;
  if (answer.cause) count += sentence_about(answer.cause->pipeline.judgement.limit).empty() ? 1 : 2;
  if (answer.rates) ++count;
  count += diagnosis.budgets.size() + source_lines_faults(measurements).size();
  if (!total_loss(measurements).complete()) count += 2;
  if (!answer.fixes.empty()) count += entries_of(answer.fixes.front());
  return answer.fixes.size() > 1 ? count + 1 : count;
}

/// `traces`: how many the command to run next names.
ScreenPlan plan_screen(const Answer& answer, const Measurements& measurements, const Diagnosis& diagnosis,
                       std::size_t traces) {
  constexpr std::size_t kMost = 11;  // entries beside the blank rows: some of them take two lines
  constexpr std::size_t kShortCode = 2;
  std::size_t entries = entries_of(answer, measurements, diagnosis, traces);
  ScreenPlan plan;
  const bool adds_second = answer.fixes.size() > 1 && answer.fixes[1].adds_up && !is_known(answer.doubt) &&
                           lines_of_code(answer.fixes[1]) <= kShortCode;
  if (adds_second && entries + entries_of(answer.fixes[1]) <= kMost) {
    plan.fixes = 2;
    entries += entries_of(answer.fixes[1]);
  }
  plan.shows_evidence = entries + 1 < kMost && !is_known(answer.doubt);
  entries += plan.shows_evidence ? 1 : 0;
  plan.is_airy = entries < kMost;
  plan.has_gap = entries < kMost + 3;
  return plan;
}

}  // namespace

std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style) {
  constexpr std::size_t kLabels = 8;  // columns
  const Answer answer = answer_of(measurements, diagnosis);
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  const bool is_full = style.detail == Detail::full;
  const ScreenPlan plan = is_full ? ScreenPlan{diagnosis.changes.size(), true, true, true}
                                  : plan_screen(answer, measurements, diagnosis, style.rerun.size());
  TextPage page(style.color, style.width, kLabels);
  const auto part = [&] {
    if (plan.is_airy) page.empty_line();
  };
  page.headline(title_of(answer.verdict), describe_verdict(answer, measurements, diagnosis), tone_of(answer.verdict));
  if (style.detail == Detail::verdict) return page.take();
  if (plan.has_gap) page.empty_line();
  add_doubts(answer, measurements, page);
  add_hosts(diagnosis.hosts, pipelines, style.detail, page);
  add_cause(answer, plan.shows_evidence, page);
  if (!answer.fixes.empty()) part();
  // Without a verdict the first thing to do is to remove the doubt.
  const bool is_said = answer.verdict.certainty == Certainty::unknown &&
                       !remedy_of(answer.doubt, measurements).command.empty() && !is_full;
  if (!is_said) add_fixes(answer, diagnosis, plan.fixes, style.detail, page);
  const FindingRefs findings = findings_that_count(diagnosis.findings);
  if (is_full) {
    page.empty_line();
    add_pace(pace_of(measurements, diagnosis), style, page);
    add_details(answer, pipelines, page);
  }
  if (is_full) add_notes(findings, page);
  add_rest(measurements, diagnosis, pipelines, style.detail, page);
  if (is_full) add_findings(diagnosis, findings, page);
  part();
  add_next(answer, style, plan.is_airy ? 2 : 1, page);
  return page.take();
}

}  // namespace doctor
