#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnose/caching.h"
#include "diagnose/devices.h"
#include "diagnose/pace_words.h"
#include "diagnose/suppress.h"
#include "diagnose/throughput.h"
#include "diagnose/throughput_words.h"
#include "diagnose/user_code.h"
#include "report/gate_text.h"
#include "report/pipeline_text.h"
#include "report/report.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_page.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

constexpr std::size_t kShownAdvice = 4;  // one screen
constexpr std::size_t kShownNotes = 4;
constexpr std::size_t kShownPipelines = 3;
constexpr std::size_t kShownHosts = 8;
constexpr std::size_t kHostWidth = 40;
constexpr std::size_t kShownLosses = 3;
constexpr std::size_t kFewCalls = 10;  // fewer make shares and medians uncertain
constexpr double kSure = 0.7;          // what the confidence means: docs/configuration.md

/// Where the step markers leave out much of the waits, or of the rest of the time, they yield a different share.
std::string share_of_markers(const PipelineMeasurement& pipeline) {
  constexpr double kWorthAWord = 0.05;
  if (!pipeline.step_share || std::abs(*pipeline.step_share - pipeline.cadence.share) < kWorthAWord) return {};
  return fmt::format("{} of the time inside the step markers; ", format_share(*pipeline.step_share));
}

std::string time_in_get_next(const PipelineView& worst) {
  std::string text = input_part(worst.pipeline, worst.judgement) + " (";
  if (worst.pipeline.exposed) text += fmt::format("{} is spent in it; ", format_share(worst.pipeline.cadence.share));
  return text + share_of_markers(worst.pipeline) + describe_calls(worst.pipeline) + ")";
}

void add_headline(const Measurements& measurements, const Judgement& judgement,
                  const std::vector<PipelineView>& pipelines, TextPage& page) {
  const bool is_judged = !pipelines.empty() && pipelines.front().judgement.level != InputLevel::unknown;
  if (is_judged && judgement.status == VerdictStatus::input_bound) {
    return page.headline("INPUT-BOUND", time_in_get_next(pipelines.front()), Tone::bad);
  }
  if (is_judged && judgement.status == VerdictStatus::healthy) {
    return page.headline("NOT INPUT-BOUND", time_in_get_next(pipelines.front()), Tone::good);
  }
  const bool has_none = judgement.status == VerdictStatus::no_input_pipeline;
  page.headline(has_none ? "NO INPUT PIPELINE" : "INCONCLUSIVE", reason_without_verdict(measurements, judgement),
                Tone::unsure);
}

void add_culprit(const PipelineView& worst, TextPage& page) {
  if (worst.judgement.culprit == kNoIterator) {
    if (worst.pipeline.root == kNoIterator) page.row("culprit", "unknown: the trace shows nothing inside of GetNext");
    return;
  }
  const std::string name = describe_culprit(worst.host, worst.pipeline, worst.judgement);
  if (!has_bottleneck(worst.judgement)) {
    if (dataset_kind(worst.culprit().short_name).has(Trait::frame)) return;  // the user has not written it
    const bool is_known = worst.judgement.level != InputLevel::unknown;
    return page.row("busiest", is_known ? name + " (nobody waits for it)" : name);
  }
  const bool is_warmup = worst.judgement.phase == Phase::warmup;
  const std::string& reason = worst.judgement.culprit_reason;
  if (worst.judgement.cost.takes != InputCost::Takes::nothing && !is_warmup) {
    return page.row("culprit", name + ": most of what the input does");
  }
  page.row(is_warmup ? "warm-up" : "culprit",
           fmt::format("{}: {} of the {}{}", name, format_share(worst.judgement.culprit_share),
                       is_warmup ? "time of the first calls" : "wait", reason.empty() ? "" : "; " + reason));
}

/// What limits the throughput, and how fast the job would be without its input.
void add_limit(const PipelineView& worst, TextPage& page) {
  const PipelineJudgement& judged = worst.judgement;
  if (!judged.bottleneck || judged.level != InputLevel::bound) return;
  page.row("limit",
           fmt::format("{}; {} steps/s now, {} if every element were ready",
                       describe_bottleneck(worst.host, *judged.bottleneck), format_steps_per_s(judged.steps_per_s),
                       format_steps_per_s(judged.steps_per_s_without_input)));
  if (judged.rival == kNoIterator) return;
  page.row("", fmt::format("{} and {} gain about the same if they get faster", describe(worst.host, judged.culprit),
                           describe(worst.host, judged.rival)));
}

/// That the waits are those of a first epoch in which a cache is filled: the next one may have none of them. Empty
/// where nobody waits.
std::string describe_first_epoch(const std::vector<PipelineView>& pipelines) {
  if (pipelines.empty() || !has_bottleneck(pipelines.front().judgement)) return {};
  return describe_cache_fill(pipelines.front().host, pipelines.front().pipeline);
}

/// What the calls do over time, where a median hides it.
void add_pace(const std::vector<Finding>& findings, const PipelineView& worst, TextPage& page) {
  for (const std::string& pace :
       {describe_stalls(worst.host, worst.pipeline), describe_pace_change(worst.host, worst.pipeline)}) {
    const bool is_found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.severity != Severity::note && finding.message == pace;
    });
    if (is_found) page.row("in time", pace);
  }
}

/// The advice of a finding that is a change to the code, else its first.
const Advice& main_advice(const Finding& finding) {
  const auto change = std::find_if(finding.advice.begin(), finding.advice.end(),
                                   [](const Advice& advice) { return advice.code.has_value(); });
  return change == finding.advice.end() ? finding.advice.front() : *change;
}

/// What a finding advises, in one piece: the code if it is a line.
std::string advice_line(const Finding& finding) {
  const Advice& advice = main_advice(finding);
  const bool is_short = advice.code && advice.code->find('\n') == std::string::npos;
  return is_short ? *advice.code : advice.text;
}

/// Whether two changes are of the same iterator, so that the second gains little or nothing once the first is made.
bool is_alternative_to(const Advice& a, const Advice& b) {
  return std::any_of(a.fixes.begin(), a.fixes.end(), [&](const Fix& one) {
    return one.iterator != kNoIterator && std::any_of(b.fixes.begin(), b.fixes.end(),
                                                      [&](const Fix& other) { return one.iterator == other.iterator; });
  });
}

/// The findings whose advice is shown: a change to the code rather than a hint, what is easy or about the culprit
/// before the rest, and nothing twice.
std::vector<const Finding*> findings_to_act_on(const std::vector<Finding>& findings,
                                               const std::vector<PipelineView>& pipelines) {
  const bool has_culprit = !pipelines.empty() && has_bottleneck(pipelines.front().judgement);
  const std::string culprit = has_culprit ? pipelines.front().culprit().long_name : std::string();
  std::vector<const Finding*> candidates;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::note && !finding.advice.empty()) candidates.push_back(&finding);
  }
  // What is predicted to gain something comes first and is in the order of the gains.
  const auto unknown = std::stable_partition(candidates.begin(), candidates.end(), [](const Finding* finding) {
    return main_advice(*finding).gain.has_value();
  });
  std::stable_sort(candidates.begin(), unknown, [](const Finding* a, const Finding* b) {
    return brings_more(*main_advice(*a).gain, *main_advice(*b).gain);
  });
  std::stable_partition(unknown, candidates.end(), [&](const Finding* finding) {
    return finding->is_easy || (has_culprit && finding->subject == culprit);
  });
  std::vector<const Finding*> hints;
  std::vector<const Finding*> changes;
  for (const Finding* candidate : candidates) {
    const Finding& finding = *candidate;
    std::vector<const Finding*>& list = main_advice(finding).code ? changes : hints;
    const bool is_said = std::any_of(list.begin(), list.end(),
                                     [&](const Finding* other) { return advice_line(*other) == advice_line(finding); });
    if (!is_said && list.size() < kShownAdvice) list.push_back(&finding);
  }
  return changes.empty() ? hints : changes;
}

/// With the line of the user's code that the advice is about: code takes it as a comment, a sentence in brackets.
std::string with_place(std::string advice, bool is_code, const SourceLine* place) {
  if (place == nullptr) return advice;
  if (is_code && advice.find('#') == std::string::npos) return fmt::format("{}  # {}", advice, to_text(*place));
  const bool is_sentence = advice.ends_with('.');
  if (is_sentence) advice.pop_back();
  return fmt::format("{} ({}){}", advice, to_text(*place), is_sentence ? "." : "");
}

void add_advice(const std::vector<const Finding*>& shown, const Measurements& measurements, const Judgement& judgement,
                TextPage& page) {
  std::size_t width = 0;
  for (const Finding* finding : shown) width = std::max(width, finding->rule.size() + 2);
  for (const Finding* finding : shown) {
    const auto here = std::find(shown.begin(), shown.end(), finding);
    const bool is_alternative = std::any_of(shown.begin(), here, [&](const Finding* before) {
      return is_alternative_to(main_advice(*finding), main_advice(*before));
    });
    const std::string line = advice_line(*finding);
    const bool is_code = main_advice(*finding).code == line;
    page.row(is_alternative ? "or" : "do", finding->rule,
             with_place(line, is_code, source_of(measurements, judgement, *finding)), width);
    const std::optional<Gain>& gain = main_advice(*finding).gain;
    if (gain) page.row("", "", describe_gain(*gain), width);
    // The first change is written out, however long it is: the rest of the report is short.
    const Advice& advice = finding->advice.front();
    if (finding == shown.front() && advice.code && *advice.code != advice_line(*finding)) page.lines("", *advice.code);
  }
  const bool is_judged = judgement.status == VerdictStatus::input_bound || judgement.status == VerdictStatus::healthy;
  if (shown.empty() && judgement.status == VerdictStatus::healthy && judgement.confidence >= kSure) {
    page.row("do", "nothing about the input; 'show overview' shows where the time of a step goes instead");
  }
  if (shown.empty() && !is_judged) {
    page.row("do", "record about thirty training steps: tf.profiler.experimental.start(logdir), then stop()");
  }
}

void add_place(const PipelineView& worst, TextPage& page) {
  if (!has_bottleneck(worst.judgement)) return;
  const SourceLine* const line = source_of(worst.host, worst.judgement.culprit);
  if (line != nullptr && !line->code.empty()) page.row("where", describe_line(*line));
  page.row("where", describe_place(worst));
  if (const std::string function = describe_function(worst); !function.empty()) page.row("in it", function);
  if (const std::string feeding = describe_feeding(worst); !feeding.empty()) page.row("fed by", feeding);
  if (worst.judgement.phase == Phase::warmup) return;
  if (const std::string cores = describe_cores(worst); !cores.empty()) page.row("cores", cores);
}

/// Why the verdict may be wrong.
void add_doubt(const Judgement& judgement, const std::vector<PipelineView>& pipelines, TextPage& page) {
  if (pipelines.empty()) return;
  const PipelineJudgement& worst = pipelines.front().judgement;
  const std::size_t calls = pipelines.front().pipeline.calls.size();
  if (worst.level != InputLevel::unknown && judgement.confidence < kSure) {
    page.row("unsure", fmt::format("confidence {:.2f}: {}", judgement.confidence, worst.doubt));
  } else if (calls > 0 && calls < kFewCalls) {
    page.row("caution", fmt::format("only {}", format_count(calls, "call")));
  }
}

void add_notes(const std::vector<Finding>& findings, const std::string& first_epoch, TextPage& page) {
  std::size_t shown = 0;
  for (const Finding& finding : findings) {
    const bool is_note = finding.severity == Severity::note;
    if (!first_epoch.empty() && finding.message == first_epoch) continue;
    // What comes with advice was shown above.
    if (!is_note && !finding.advice.empty()) continue;
    if (++shown > kShownNotes) continue;
    page.row(is_note ? "note" : "caution", finding.message);
  }
  if (shown > kShownNotes) page.row("note", fmt::format("{} more with -v", shown - kShownNotes));
}

/// What the device that ran most kernels did: those of a host do the same work.
void add_devices(const Measurements& measurements, TextPage& page) {
  const DeviceActivity* main = nullptr;
  std::size_t count = 0;
  bool is_aligned = true;
  for (const HostMeasurement& host : measurements.hosts) {
    const DeviceActivity* const device = main_device(host);
    is_aligned = is_aligned && host.device_profile.is_aligned;
    if (device != nullptr && (main == nullptr || device->kernel_sum > main->kernel_sum)) main = device;
    for (const DeviceActivity& other : host.device_profile.devices) count += other.kernel_count > 0 ? 1 : 0;
  }
  if (main == nullptr) return;
  std::string text = fmt::format("{}: {} of kernels ({})", main->name, format_time(main->kernels),
                                 format_count(main->kernel_count, "kernel"));
  if (is_aligned)
    text +=
        fmt::format(", busy {} of {}", format_share(share_of_window(*main, main->busy)), format_time(main->length()));
  if (count > 1) text += fmt::format("; {} with kernels in all", format_count(count, "device"));
  page.row("device", text);
}

std::string describe_host(const ComparedHost& host, const std::vector<PipelineView>& pipelines) {
  if (!host.judgement) return "no call that could be compared";
  const PipelineView& worst = pipelines[*host.judgement];
  std::string text =
      fmt::format("{} of the time in GetNext, mean {}", format_share(host.input_share), format_time(host.mean_wait));
  if (has_bottleneck(worst.judgement)) text += ", " + describe_culprit(worst.host, worst.pipeline, worst.judgement);
  return host.is_straggler ? text + " <-- straggler" : text;
}

void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, TextPage& page) {
  if (!comparison.is_possible()) return;
  std::size_t width = 0;
  const std::size_t shown = std::min(kShownHosts, comparison.hosts.size());
  std::vector<std::string> names;
  for (std::size_t index = 0; index < shown; ++index) {
    names.push_back(clip(escape_for_terminal(comparison.hosts[index].name), kHostWidth));
    width = std::max(width, column_count(names.back()) + 2);
  }
  for (std::size_t index = 0; index < shown; ++index) {
    page.row(comparison.noun(), names[index], describe_host(comparison.hosts[index], pipelines), width);
  }
  if (comparison.hosts.size() > shown) {
    page.row(comparison.noun(), fmt::format("{} more {}", comparison.hosts.size() - shown, comparison.noun()));
  }
  page.row(comparison.noun(), describe_comparison(comparison));
}

/// That the report is about one of several hosts, because the user wanted it so.
void add_left_out(const Measurements& measurements, TextPage& page) {
  const std::size_t count = measurements.left_out.size();
  if (count == 0) return;
  page.row("host", fmt::format("{} alone; {} of the run {} left out (--host)", host_name(measurements.hosts.front()),
                               format_count(count, "other host"), count == 1 ? "was" : "were"));
}

/// Why the first pipeline comes before the others: pipelines are ranked by how much they hold their consumer up, then
/// by the time waited.
std::string describe_rank(const PipelineView& worst) {
  const InputLevel level = worst.judgement.level;
  return fmt::format("pipeline {}: {}, {}", pipeline_id(worst.judgement, worst.pipeline), describe_cost(worst),
                     level == InputLevel::bound  ? "input-bound"
                     : level == InputLevel::mild ? "waits worth a look"
                                                 : "more than any other, though none holds the job up");
}

void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, TextPage& page) {
  const auto is_shown = [&](std::size_t index) {
    return comparison.is_possible() && std::any_of(comparison.hosts.begin(), comparison.hosts.end(),
                                                   [&](const ComparedHost& host) { return host.judgement == index; });
  };
  std::size_t others = 0;
  for (std::size_t index = 1; index < pipelines.size(); ++index) {
    const PipelineView& view = pipelines[index];
    const std::optional<double> share = input_share_of(view);
    // What only feeds another pipeline is part of that one's waits.
    if (view.pipeline.feeds_another || !share || is_shown(index) || ++others > kShownPipelines) continue;
    if (others == 1) page.row("worst", describe_rank(pipelines.front()));
    std::string text =
        fmt::format("pipeline {}: {}, {} of the time in GetNext ({})", pipeline_id(view.judgement, view.pipeline),
                    describe_cost(view), format_share(*share), describe_calls(view.pipeline));
    if (has_bottleneck(view.judgement)) text += ", " + describe_culprit(view.host, view.pipeline, view.judgement);
    if (has_many_hosts) text += ", on " + clip(escape_for_terminal(host_name(view.host)), kHostWidth);
    page.row("also", text);
  }
  if (others > kShownPipelines) page.row("also", fmt::format("{} more pipelines", others - kShownPipelines));
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
  if (detail != Detail::full) return;
  for (const std::string& note : loss.notes) page.row(loss.complete() ? "note" : "lost", note);
}

/// Every finding with what it rests on.
void add_evidence(const Diagnosis& diagnosis, const std::vector<Finding>& findings, TextPage& page) {
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
      if (advice.gain) page.row("gain", describe_gain(*advice.gain));
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
void add_more(const Diagnosis& diagnosis, const std::vector<const Finding*>& shown, const TextStyle& style,
              TextPage& page) {
  const auto unknown =
      static_cast<std::size_t>(std::count_if(diagnosis.not_evaluated.begin(), diagnosis.not_evaluated.end(),
                                             [](const NotEvaluated& rule) { return !rule.is_inapplicable; }));
  if (unknown > 0 && style.detail != Detail::full) {
    page.row("unknown",
             fmt::format("{} could not be evaluated on this trace (-v says why)", format_count(unknown, "rule")));
  }
  const bool is_healthy = diagnosis.judgement.status == VerdictStatus::healthy;
  page.command("more", fmt::format("tfdata-doctor show {} {}", is_healthy ? "overview" : "tree", style.rerun));
  if (!shown.empty()) page.command("more", "tfdata-doctor explain " + shown.front()->rule);
}

}  // namespace

std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style) {
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  TextPage page(style.color, style.width);
  add_headline(measurements, diagnosis.judgement, pipelines, page);
  if (style.detail == Detail::verdict) return page.take();
  const std::string first_epoch = describe_first_epoch(pipelines);
  if (!first_epoch.empty()) page.row("caution", first_epoch);
  if (!pipelines.empty()) add_culprit(pipelines.front(), page);
  if (!pipelines.empty()) add_limit(pipelines.front(), page);
  const std::vector<Finding> findings = findings_that_count(diagnosis.findings);
  const std::vector<const Finding*> shown = findings_to_act_on(findings, pipelines);
  add_advice(shown, measurements, diagnosis.judgement, page);
  if (!pipelines.empty()) {
    add_place(pipelines.front(), page);
    add_pace(findings, pipelines.front(), page);
  }
  add_budgets(measurements, diagnosis, style.detail, page);
  add_suppressed(diagnosis, style.detail, page);
  add_devices(measurements, page);
  add_notes(findings, first_epoch, page);
  add_doubt(diagnosis.judgement, pipelines, page);
  add_hosts(diagnosis.hosts, pipelines, page);
  add_left_out(measurements, page);
  add_other_pipelines(pipelines, diagnosis.hosts, measurements.hosts.size() > 1, page);
  if (style.detail == Detail::full) add_evidence(diagnosis, findings, page);
  add_loss(measurements, style.detail, page);
  add_more(diagnosis, shown, style, page);
  return page.take();
}

}  // namespace doctor
