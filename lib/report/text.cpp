#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnose/caching.h"
#include "diagnose/loaders.h"
#include "diagnose/pace_words.h"
#include "diagnose/suppress.h"
#include "diagnose/throughput_words.h"
#include "diagnose/user_code.h"
#include "report/gate_text.h"
#include "report/pipeline_text.h"
#include "report/report.h"
#include "report/text_parts.h"
#include "text/numbers.h"
#include "text/text_page.h"
#include "trace/torn.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

constexpr std::size_t kShownNotes = 2;  // one screen
constexpr std::size_t kShownLosses = 3;
constexpr std::size_t kFewCalls = 10;  // fewer make shares and medians uncertain
constexpr double kSure = kSureConfidence;

/// Where the step markers leave out much of the waits, or of the rest of the time, they yield a different share.
std::string share_of_markers(const PipelineMeasurement& pipeline) {
  constexpr double kWorthAWord = 0.05;
  if (!pipeline.step_share || std::abs(*pipeline.step_share - pipeline.cadence.share) < kWorthAWord) return {};
  return fmt::format("{} of the time inside the step markers; ", format_share(*pipeline.step_share));
}

/// The verdict in the words of somebody who has never heard of GetNext.
std::string describe_wait(const PipelineView& worst) {
  const PipelineJudgement& judged = worst.judgement;
  const std::string what =
      worst.pipeline.exposed ? "the devices are idle because input is not ready" : "the training waits for its input";
  if (judged.cost.takes != InputCost::Takes::nothing) {
    return fmt::format("the input takes {} from the training, which would be {} times as fast without it",
                       judged.cost.takes == InputCost::Takes::cores ? "cores" : "Python's lock",
                       format_factor(judged.cost.speedup_without_input));
  }
  std::string text = fmt::format("{} {} of the time", what, format_share(judged.input_share));
  if (judged.level == InputLevel::mild) text = "the input costs a little: " + text;
  if (judged.lost_share) {
    text = fmt::format("the job loses {} of its time to its input: {}", format_share(*judged.lost_share), text);
  }
  const std::optional<std::size_t> call = worst.pipeline.judged_trimmed_cadence().without_call;
  if (!judged.sets_call_aside || !call) return text;
  const Interval span = worst.pipeline.calls[*call];
  return fmt::format("{} without the {} of call {}, {} with it", text, format_time(span.end - span.start), *call + 1,
                     format_share(worst.pipeline.judged_cadence().share));
}

/// Why the verdict may be wrong, where it may well be; empty where it is sure.
std::string describe_doubt(const Judgement& judgement, const PipelineView& worst) {
  if (judgement.confidence >= kSure) return {};
  return fmt::format("; unsure (confidence {:.2f}): {}", judgement.confidence, worst.judgement.doubt);
}

void add_headline(const Measurements& measurements, const Judgement& judgement,
                  const std::vector<PipelineView>& pipelines, TextPage& page) {
  const bool is_judged = !pipelines.empty() && pipelines.front().judgement.level != InputLevel::unknown;
  const bool is_bound = judgement.status == VerdictStatus::input_bound;
  if (is_judged && (is_bound || judgement.status == VerdictStatus::healthy)) {
    const std::string doubt = describe_doubt(judgement, pipelines.front());
    const std::string wait = describe_wait(pipelines.front());
    if (is_bound) return page.headline("INPUT-BOUND", wait + doubt, doubt.empty() ? Tone::bad : Tone::unsure);
    const bool is_fine = pipelines.front().judgement.level == InputLevel::not_bound && doubt.empty();
    return page.headline("NOT INPUT-BOUND", (is_fine ? "your input is fine: " : "") + wait + doubt,
                         doubt.empty() ? Tone::good : Tone::unsure);
  }
  const bool has_none = judgement.status == VerdictStatus::no_input_pipeline;
  page.headline(has_none ? "NO INPUT PIPELINE" : "INCONCLUSIVE", reason_without_verdict(measurements, judgement),
                Tone::unsure);
}

/// How often and how long the consumer waits.
void add_calls(const PipelineView& worst, TextPage& page) {
  std::string text = share_of_markers(worst.pipeline) + describe_calls(worst.pipeline);
  if (worst.pipeline.exposed) text += fmt::format("; {} of the time", format_share(worst.pipeline.cadence.share));
  page.row("GetNext", text);
}

/// ", limited by its one thread", where the limit is the culprit's own; empty where it is another one.
std::string describe_own_limit(const PipelineJudgement& judged, const std::string& name) {
  constexpr std::string_view kThe = "the ";
  const std::string_view words = judged.limit.words;
  const std::string of_culprit = " of " + name;
  const bool is_own = judged.level == InputLevel::bound && judged.limit.limit != Limit::unknown &&
                      words.starts_with(kThe) && words.ends_with(of_culprit);
  if (!is_own) return {};
  return fmt::format(", limited by its {}", words.substr(kThe.size(), words.size() - kThe.size() - of_culprit.size()));
}

/// Why other evidence than the waits chose the culprit; where that is its pace and there is little room, what limits
/// it.
std::string describe_reason(const PipelineJudgement& judged, const std::string& name, Brevity brevity) {
  constexpr std::string_view kPace = "sets the pace";
  const std::string& reason = judged.culprit_reason;
  if (!leaves_out(brevity, Brevity::comparisons) || !reason.starts_with(kPace)) return reason;
  const std::string limit = describe_own_limit(judged, name);
  return limit.empty() ? reason.substr(0, reason.find(", without that of")) : std::string(kPace) + limit;
}

/// Whether the row of the culprit says what limits it.
bool culprit_tells_limit(const PipelineView& worst, Brevity brevity) {
  const PipelineJudgement& judged = worst.judgement;
  if (judged.culprit == kNoIterator || judged.cost.takes != InputCost::Takes::nothing) return false;
  if (sets_pace(judged) && !leaves_out(brevity, Brevity::comparisons)) return false;
  const std::string name = describe_culprit(worst.host, worst.pipeline, judged);
  return !describe_own_limit(judged, name).empty() &&
         (!sets_pace(judged) || describe_reason(judged, name, brevity) != judged.culprit_reason);
}

void add_culprit(const PipelineView& worst, Brevity brevity, TextPage& page) {
  if (worst.judgement.culprit == kNoIterator) {
    if (const std::string loader = describe_loader(worst.host, worst.pipeline); !loader.empty()) {
      return page.row("culprit", "unknown: " + loader);
    }
    if (worst.pipeline.root == kNoIterator) page.row("culprit", "unknown: the trace shows nothing inside of GetNext");
    return;
  }
  const std::string name = describe_culprit(worst.host, worst.pipeline, worst.judgement);
  if (!names_culprit(worst.judgement)) {
    if (dataset_kind(worst.culprit()).has(Trait::frame)) return;  // the user has not written it
    const bool is_known = worst.judgement.level != InputLevel::unknown;
    return page.row("busiest", is_known ? name + " (nobody waits for it)" : name);
  }
  const bool is_warmup = worst.judgement.phase == Phase::warmup;
  if (worst.judgement.cost.takes != InputCost::Takes::nothing && !is_warmup) {
    return page.row("culprit", name + ": most of what the input does");
  }
  if (sets_pace(worst.judgement))
    return page.row("culprit", name + " " + describe_reason(worst.judgement, name, brevity));
  page.row(is_warmup ? "warm-up" : "culprit",
           fmt::format("{}: {} of the {}{}", name, format_share(worst.judgement.culprit_share),
                       is_warmup ? "time of the first calls" : "wait", describe_own_limit(worst.judgement, name)));
}

/// What limits the throughput, and how fast the job would be after each change.
void add_limit(const Diagnosis& diagnosis, const PipelineView& worst, Brevity brevity, TextPage& page) {
  const PipelineJudgement& judged = worst.judgement;
  if (judged.level != InputLevel::bound) return;
  if (judged.limit.limit != Limit::unknown && !culprit_tells_limit(worst, brevity)) {
    page.row("limit", judged.limit.words);
  }
  if (judged.rival != kNoIterator) {
    page.row("limit", fmt::format("{} and {} gain about the same if they get faster",
                                  describe(worst.host, judged.culprit), describe(worst.host, judged.rival)));
  }
  if (const std::string rates = describe_rates(diagnosis, worst); !rates.empty()) page.row("speed", rates);
  if (const std::string why = describe_missing_gains(diagnosis, worst); !why.empty()) page.row("gain", why);
}

/// That the waits are those of a first epoch in which a cache is filled: the next one may have none of them. Empty
/// where nobody waits.
std::string describe_first_epoch(const std::vector<PipelineView>& pipelines) {
  if (pipelines.empty() || !names_culprit(pipelines.front().judgement)) return {};
  return describe_cache_fill(pipelines.front().host, pipelines.front().pipeline);
}

/// What the calls do over time, where a median hides it.
std::vector<std::string> describe_pace(const FindingRefs& findings, const PipelineView& worst) {
  std::vector<std::string> found;
  for (const std::string& pace :
       {describe_stalls(worst.host, worst.pipeline), describe_pace_change(worst.host, worst.pipeline)}) {
    const bool is_found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.severity != Severity::note && finding.message == pace;
    });
    if (is_found) found.push_back(pace);
  }
  return found;
}

/// What to do where there is nothing to change.
void add_next_step(const Judgement& judgement, TextPage& page) {
  const bool is_judged = judgement.status == VerdictStatus::input_bound || judgement.status == VerdictStatus::healthy;
  const bool is_fine = judgement.status == VerdictStatus::healthy && judgement.confidence >= kSure &&
                       judgement.pipelines.front().level == InputLevel::not_bound;
  if (is_fine) {
    page.row("do", "nothing about the input; 'show overview' shows where the time of a step goes instead");
  }
  if (!is_judged) {
    page.row("do", "record about thirty training steps: tf.profiler.experimental.start(logdir), then stop()");
  }
}

void add_place(const PipelineView& worst, Detail detail, bool shows_function, TextPage& page) {
  if (!names_culprit(worst.judgement)) return;
  const SourceLine* const line = source_of(worst.host, worst.judgement.culprit);
  if (line != nullptr && !line->code.empty()) page.row("where", describe_line(*line));
  if (detail == Detail::full) page.row("where", describe_place(worst));
  const std::string function = shows_function ? describe_function(worst) : std::string();
  if (!function.empty()) page.row("in it", function);
  if (const std::string feeding = describe_feeding(worst); !feeding.empty()) page.row("fed by", feeding);
  if (worst.judgement.phase == Phase::warmup || detail != Detail::full) return;
  if (const std::string cores = describe_cores(worst); !cores.empty()) page.row("cores", cores);
}

/// The evidence: where the user wrote the culprit, what its function does, and the calls over time.
void add_evidence(const FindingRefs& findings, const PipelineView& worst, Detail detail, Brevity brevity,
                  TextPage& page) {
  const std::vector<std::string> pace = describe_pace(findings, worst);
  add_place(worst, detail, pace.empty() || !leaves_out(brevity, Brevity::second_evidence), page);
  for (const std::string& words : pace) page.row("in time", words);
  if (detail == Detail::full) add_calls(worst, page);
}

/// Few calls make shares and medians uncertain; where the first line says that already, this does not.
void add_doubt(const Judgement& judgement, const std::vector<PipelineView>& pipelines, TextPage& page) {
  if (pipelines.empty()) return;
  const std::size_t calls = pipelines.front().pipeline.calls.size();
  const bool is_sure = pipelines.front().judgement.level == InputLevel::unknown || judgement.confidence >= kSure;
  if (is_sure && calls > 0 && calls < kFewCalls)
    page.row("caution", fmt::format("only {}", format_count(calls, "call")));
}

/// Whether a note only gives the reason for one of the changes, which were shown above.
bool is_reason_of_change(const Finding& finding, const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.changes.begin(), diagnosis.changes.end(), [&](const Change& change) {
    const Finding& of = diagnosis.findings[change.finding];
    return of.rule == finding.rule && of.subject == finding.subject && of.message == finding.message;
  });
}

void add_notes(const Diagnosis& diagnosis, const FindingRefs& findings, const std::string& first_epoch, Detail detail,
               Brevity brevity, TextPage& page) {
  const std::size_t most = detail == Detail::full ? findings.size() : kShownNotes;
  std::size_t shown = 0;
  for (const Finding& finding : findings) {
    const bool is_note = finding.severity == Severity::note;
    if (!first_epoch.empty() && finding.message == first_epoch) continue;
    // What comes with advice was shown above, and what gains nothing warns of nothing.
    const bool is_shown = finding.states_verdict || !finding.advice.empty() || !finding.without_gain.empty();
    const bool is_spare =
        leaves_out(brevity, Brevity::notes) || (detail == Detail::screen && is_reason_of_change(finding, diagnosis));
    if (is_note ? is_spare : is_shown) continue;
    if (++shown > most) continue;
    page.row(is_note ? "note" : "caution", finding.message);
  }
  if (shown > most) page.row("note", fmt::format("{} more with -v", shown - most));
}

void add_loss(const Measurements& measurements, const Detail detail, TextPage& page) {
  for (const std::string& fault : source_lines_faults(measurements)) page.row("no lines", fault);
  const Loss loss = total_loss(measurements);
  std::string text;
  std::size_t shown = 0;
  for (const auto& [reason, count] : loss.counts) {
    if (++shown > kShownLosses && detail != Detail::full) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, format_count(count));
  }
  if (shown > kShownLosses && detail != Detail::full) text += fmt::format(" and {} more", shown - kShownLosses);
  if (!loss.complete()) page.row("lost", text + "; the numbers are based on what is left");
  // Where nothing was lost they say what was read in place of a file that was named.
  if (detail != Detail::full && !loss.complete() && !is_limited_by_profiler(loss)) return;
  for (const std::string& note : loss.notes) page.row(loss.complete() ? "note" : "lost", note);
}

/// Every finding with what it rests on.
void add_findings(const Diagnosis& diagnosis, const FindingRefs& findings, TextPage& page) {
  for (const Finding& finding : findings) {
    page.empty_line();
    page.row("finding", fmt::format("{}: {}", finding.rule, finding.message));
    if (!finding.subject.empty()) page.row("at", finding.subject);
    for (const Evidence& item : finding.evidence) {
      page.row("evidence", fmt::format("{}: {}", item.name, format_quantity(item.value, item.unit)));
    }
    for (const Advice& advice : finding.advice) {
      page.row("do", advice.text);
      if (advice.code) page.lines("code", *advice.code);
      if (!advice.versions.empty()) page.row("versions", advice.versions);
      if (advice.gain) page.row("gain", describe_gain(*advice.gain));
      if (!advice.no_gain_because.empty()) page.row("gain", "not predicted: " + advice.no_gain_because);
    }
    for (const Reference& reference : finding.follows) {
      page.row("see", reference.title);
      page.command("", reference.url);
    }
    for (const Advice& advice : finding.without_gain) {
      page.row("no gain", advice.code && advice.code->find('\n') == std::string::npos ? *advice.code : advice.text);
    }
  }
  // Most rules miss the same thing.
  std::map<std::string_view, std::string> rules_of_reason;
  for (const NotEvaluated& rule : diagnosis.not_evaluated) {
    std::string& rules = rules_of_reason[rule.reason];
    rules += (rules.empty() ? "" : ", ") + rule.rule;
  }
  if (!rules_of_reason.empty()) page.empty_line();
  for (const auto& [reason, rules] : rules_of_reason) page.row("not seen", fmt::format("{}: {}", reason, rules));
}

/// The tree shows who holds the input up; where it is fine, the overview shows what else takes the time.
void add_more(const Diagnosis& diagnosis, const std::string& first_rule, const TextStyle& style, Brevity brevity,
              TextPage& page) {
  const auto unknown =
      static_cast<std::size_t>(std::count_if(diagnosis.not_evaluated.begin(), diagnosis.not_evaluated.end(),
                                             [](const NotEvaluated& rule) { return !rule.is_inapplicable; }));
  // Where there is a verdict, a rule that saw too little takes nothing from it.
  const VerdictStatus status = diagnosis.judgement.status;
  const bool is_judged = status == VerdictStatus::input_bound || status == VerdictStatus::healthy;
  if (unknown > 0 && !is_judged && style.detail != Detail::full) {
    page.row("unknown",
             fmt::format("{} could not be evaluated on this trace (-v says why)", format_count(unknown, "rule")));
  }
  const bool is_healthy = status == VerdictStatus::healthy;
  const bool is_bound = status == VerdictStatus::input_bound;
  if (is_bound) page.command("more", "tfdata-doctor whatif " + style.rerun);
  if (!is_bound || style.detail == Detail::full) {
    page.command("more", fmt::format("tfdata-doctor show {} {}", is_healthy ? "overview" : "tree", style.rerun));
  }
  if (!first_rule.empty() && !leaves_out(brevity, Brevity::explanation)) {
    page.command("more", "tfdata-doctor explain " + first_rule);
  }
}

std::string render(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style,
                   Brevity brevity) {
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  TextPage page(style.color, style.width);
  add_headline(measurements, diagnosis.judgement, pipelines, page);
  if (style.detail == Detail::verdict) return page.take();
  const std::string first_epoch = describe_first_epoch(pipelines);
  if (!first_epoch.empty()) page.row("caution", first_epoch);
  if (!pipelines.empty()) add_culprit(pipelines.front(), brevity, page);
  if (!pipelines.empty()) add_limit(diagnosis, pipelines.front(), brevity, page);
  const FindingRefs findings = findings_that_count(diagnosis.findings);
  const std::string first_rule = add_changes(measurements, diagnosis, style.detail, brevity, page);
  if (first_rule.empty()) add_next_step(diagnosis.judgement, page);
  if (!pipelines.empty()) add_evidence(findings, pipelines.front(), style.detail, brevity, page);
  add_budgets(measurements, diagnosis, style.detail, page);
  add_suppressed(diagnosis, style.detail, page);
  add_devices(measurements, page);
  add_notes(diagnosis, findings, first_epoch, style.detail, brevity, page);
  if (!leaves_out(brevity, Brevity::second_evidence)) add_doubt(diagnosis.judgement, pipelines, page);
  add_hosts(diagnosis.hosts, pipelines, page);
  add_left_out(measurements, page);
  add_other_pipelines(pipelines, diagnosis.hosts, measurements.hosts.size() > 1, !leaves_out(brevity, Brevity::notes),
                      page);
  if (style.detail == Detail::full) add_findings(diagnosis, findings, page);
  add_loss(measurements, style.detail, page);
  add_more(diagnosis, first_rule, style, brevity, page);
  return page.take();
}

}  // namespace

std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style) {
  std::string page = render(measurements, diagnosis, style, Brevity::nothing);
  if (style.detail != Detail::screen) return page;
  const auto is_short = [&] {
    return static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n')) <= kShortReport;
  };
  for (auto brevity = Brevity::explanation; !is_short() && brevity <= kMostBrevity;
       brevity = static_cast<Brevity>(static_cast<int>(brevity) + 1)) {
    page = render(measurements, diagnosis, style, brevity);
  }
  return page;
}

}  // namespace doctor
