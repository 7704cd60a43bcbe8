#include "diagnose/pipelines.h"

#include <fmt/format.h>

#include "diagnose/cores.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// What the input takes from a training on the same cores, before the share of the waits.
std::string cost_part(const PipelineJudgement& judgement) {
  if (judgement.cost.takes == InputCost::Takes::nothing) return {};
  return fmt::format("the input takes {} from the training, which would be {:.1f} times as fast without it; ",
                     judgement.cost.takes == InputCost::Takes::cores ? "the cores" : "Python's lock",
                     judgement.cost.speedup_without_input);
}

/// Adds what a rule asked about one more pipeline. Of more than are read, only what is new is kept: that there is a
/// finding, or that evidence is missing.
void keep_inquiry(Inquiry inquiry, bool is_first_to_miss, std::vector<Inquiry>& inquiries) {
  // More than a person reads: a trace may have a pipeline for each of a million calls.
  constexpr std::size_t kMostInquiries = 200;
  if (inquiries.size() >= kMostInquiries) {
    if (!inquiry.has_finding && !is_first_to_miss) return;
    inquiry.questions = std::vector<Question>();  // `= {}` would keep their memory
  }
  inquiries.push_back(std::move(inquiry));
}

}  // namespace

std::string input_part(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement) {
  const std::string call_words = pipeline.next_of.empty() ? "GetNext" : "next() of " + pipeline.next_of;
  std::string part = cost_part(judgement) + format_share(judgement.input_share) +
                     (pipeline.exposed ? " of the time no device computes while " + call_words + " waits"
                                       : " of the time is spent in " + call_words);
  const std::optional<std::size_t> call = pipeline.judged_trimmed_cadence().without_call;
  if (!judgement.sets_call_aside || !call) return part;
  const Interval span = pipeline.calls[*call];
  return fmt::format("{} without the {} of call {}, {} with it", part, format_time(span.end - span.start), *call + 1,
                     format_share(pipeline.judged_cadence().share));
}

std::string describe_evidence(const HostMeasurement& host, const PipelineJudgement& judgement) {
  const CulpritEvidence& evidence = judgement.evidence;
  if (judgement.chosen_by == ChosenBy::waits) return {};
  const std::string other = describe(host, evidence.waits_end_at);
  if (judgement.chosen_by == ChosenBy::thread) {
    return fmt::format("sets the pace: its thread works {} of the time, that of {} after it {}",
                       format_share(evidence.of_culprit), other, format_share(evidence.of_other));
  }
  if (judgement.chosen_by == ChosenBy::model) {
    return fmt::format("sets the pace: without its work the job would be {:.2f}x as fast, without that of {} {:.2f}x",
                       evidence.of_culprit, other, evidence.of_other);
  }
  return fmt::format("uses the cores, while the calls of {} after it wait {} for one", other,
                     format_time(evidence.waits_for_cores));
}

std::string describe_culprit(const PipelineView& view) {
  constexpr std::size_t kOpsThatTellApart = 2;  // chosen: a title has no room for more
  std::string words = describe(view.host, view.judgement.culprit);
  if (!is_one_of_several(view.culprit())) return words;
  const std::span<const FunctionOp> ops = view.function().ops;
  for (std::size_t index = 0; index < std::min(kOpsThatTellApart, ops.size()); ++index) {
    words += (index == 0 ? " (" : ", ") + ops[index].op;
  }
  return ops.empty() ? words : words + ")";
}

bool holds_job_up(const RankedPipeline& ranked, Examiner& examiner) {
  if (sets_pace(ranked.judgement)) {
    return examiner.holds(describe_culprit(ranked) + " " + describe_evidence(ranked.host, ranked.judgement), true);
  }
  return examiner.at_least(share_of("culprit_share", ranked.judgement.culprit_share), "min_culprit_share");
}

bool is_waited_for(const RankedPipeline& ranked, Waits waits, Examiner& examiner) {
  if (ranked.judgement.level == InputLevel::unknown) {
    examiner.misses(kTooLittleEvidence);
    return false;
  }
  const auto statement = [&](std::string_view claim, std::string_view end = {}) {
    return [&ranked, claim, end] {
      return fmt::format("{} ({} of the time in GetNext{}){}", claim, format_share(ranked.judgement.input_share),
                         ranked.pipeline.exposed ? " with no device computing" : "", end);
    };
  };
  if (waits == Waits::bound) return examiner.holds(statement("the job is input-bound"), ranked.is_bound());
  constexpr std::string_view kWaits = "the job waits for input";
  const bool is_slow = ranked.is_slow();
  if (waits == Waits::slow || is_slow) return examiner.holds(statement(kWaits), is_slow);
  return examiner.holds(statement(kWaits, ", or did at the start"), ranked.judgement.phase == Phase::warmup);
}

std::string culprit_words(const RankedPipeline& ranked, std::string_view kind) {
  return fmt::format("the culprit, {}, is {}", describe(ranked.host, ranked.judgement.culprit), kind);
}

RuleResult for_each_pipeline(const RuleContext& context, const PipelineCheck& check) {
  RuleResult result;
  bool has_missed = false;
  std::set<std::pair<std::size_t, std::string>> found;  // host and subject
  if (context.judgement.pipelines.empty()) {
    result.inquiries.emplace_back().missing = why_nothing_is_judged(context.measurements);
  }
  for (std::size_t index = 0; index < context.judgement.pipelines.size(); ++index) {
    const RankedPipeline ranked = context.pipeline(index);
    if (!ranked.pipeline.is_input_of_job()) continue;
    Inquiry inquiry;
    inquiry.pipeline = index;
    Examiner examiner(context.thresholds, inquiry, context.keeps_questions);
    std::optional<Finding> finding = check(ranked, examiner);
    inquiry.has_finding = finding.has_value();
    const bool misses = !inquiry.missing.empty();
    if (context.keeps_questions) keep_inquiry(std::move(inquiry), misses && !has_missed, result.inquiries);
    has_missed = has_missed || misses;
    if (!finding) continue;
    finding->host = ranked.judgement.host;
    finding->pipeline = index;
    // Replicas of one input show the same fault; the worst pipeline came first.
    if (found.emplace(ranked.judgement.host, finding->subject).second) result.findings.push_back(std::move(*finding));
  }
  return result;
}

RuleResult for_each_culprit(const RuleContext& context, Waits waits, const PipelineCheck& check) {
  return for_each_pipeline(context, [&](const RankedPipeline& ranked, Examiner& examiner) -> std::optional<Finding> {
    if (!is_waited_for(ranked, waits, examiner)) return std::nullopt;
    if (!ranked.has_culprit()) {
      examiner.misses("the trace shows GetNext calls, but no tf.data iterator at work inside them");
      return std::nullopt;
    }
    std::optional<Finding> finding = check(ranked, examiner);
    // Only the first calls were slow: nothing to change for.
    if (finding && !ranked.is_slow()) finding->severity = Severity::note;
    return finding;
  });
}

RuleResult for_each_parallel_culprit(const RuleContext& context, const PipelineCheck& check) {
  return for_each_culprit(
      context, Waits::bound, [&](const RankedPipeline& ranked, Examiner& examiner) -> std::optional<Finding> {
        const bool works_on_several = ranked.culprit().has(Trait::parallel) && !ranked.culprit().is_sequential_map();
        const auto statement = [&] {
          return fmt::format("the culprit, {}, works on several elements at once on this host",
                             describe(ranked.host, ranked.judgement.culprit));
        };
        if (!examiner.holds(statement, works_on_several)) return std::nullopt;
        return check(ranked, examiner);
      });
}

std::optional<Evidence> used_up_cores(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase());
  if (!utilization) {
    examiner.misses(why_cores_are_unknown(ranked.host));
    return std::nullopt;
  }
  const Evidence used = share_of("cpu_utilization", *utilization);
  return examiner.at_least(used, "min_utilization") ? std::optional(used) : std::nullopt;
}

std::optional<Evidence> idle_cores(const RankedPipeline& ranked, Examiner& examiner) {
  // What is in use during the few waits says nothing about an input that takes cores from the training.
  const bool takes_cores = ranked.judgement.cost.takes == InputCost::Takes::cores;
  if (takes_cores && !examiner.holds("cores are idle", false)) return std::nullopt;
  const double busy_threads = ranked.phase().busy_threads;
  const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase());
  if (!utilization && busy_threads > examiner["max_utilization"]) {
    examiner.misses(why_cores_are_unknown(ranked.host));
    return std::nullopt;
  }
  const Evidence used =
      utilization ? share_of("cpu_utilization", *utilization) : share_of("utilization_of_one_core", busy_threads);
  return examiner.at_most(used, "max_utilization") ? std::optional(used) : std::nullopt;
}

RuleResult for_trace(const RuleContext& context, const TraceCheck& check) {
  RuleResult result;
  Inquiry& inquiry = result.inquiries.emplace_back();
  Examiner examiner(context.thresholds, inquiry, context.keeps_questions);
  if (std::optional<Finding> finding = check(examiner)) {
    inquiry.has_finding = true;
    result.findings.push_back(std::move(*finding));
  }
  return result;
}

RuleResult for_each_host(const RuleContext& context, const HostCheck& check,
                         bool (*is_one)(const HostMeasurement& host)) {
  RuleResult result;
  for (std::size_t index = 0; index < context.measurements.hosts.size(); ++index) {
    if (!is_one(context.measurements.hosts[index])) continue;
    Inquiry& inquiry = result.inquiries.emplace_back();
    Examiner examiner(context.thresholds, inquiry, context.keeps_questions);
    std::optional<Finding> finding = check(context.measurements.hosts[index], examiner);
    if (!finding) continue;
    inquiry.has_finding = true;
    finding->host = index;
    result.findings.push_back(std::move(*finding));
  }
  return result;
}

std::string why_nothing_is_judged(const Measurements& measurements) {
  const auto any = [&](auto holds) { return std::any_of(measurements.hosts.begin(), measurements.hosts.end(), holds); };
  if (any([](const HostMeasurement& host) { return !host.iterators.empty(); })) {
    return "no GetNext call of a consumer in the trace";
  }
  if (any([](const HostMeasurement& host) { return !host.loss.complete(); })) {
    return "no input pipeline in what could be read of the damaged trace";
  }
  if (any([](const HostMeasurement& host) { return host.mentions_tf_data; })) {
    return "tf.data is set up in the trace, but no iterator was seen at work";
  }
  const bool has_events = any([](const HostMeasurement& host) { return host.event_count > 0; });
  return has_events ? "no input pipeline in the trace" : "no events in the trace";
}

double share_in_ops(const RankedPipeline& ranked) {
  const CulpritFunction function = ranked.function();
  // Ops of several types may have run at once, so their times may add up to more.
  const Picoseconds whole = function.is_waited_for ? ranked.culprit_time() : ranked.culprit().work();
  return std::min(1.0,
                  static_cast<double>(function.time_of_ops()) / static_cast<double>(std::max<Picoseconds>(whole, 1)));
}

Finding culprit_finding(const RankedPipeline& ranked, std::string message) {
  Finding finding;
  finding.subject = ranked.culprit().long_name;
  finding.message = std::move(message);
  finding.evidence = {share_of("culprit_share", ranked.judgement.culprit_share),
                      time_of("culprit_time", ranked.culprit_time()), time_of("waited", ranked.phase().waited)};
  // All that waits, waits for the stage that sets the pace.
  finding.at_stake = sets_pace(ranked.judgement) ? ranked.phase().waited : ranked.culprit_time();
  return finding;
}

std::string culprit_part(const RankedPipeline& ranked) {
  if (ranked.judgement.cost.takes != InputCost::Takes::nothing) {
    return describe_culprit(ranked) + " is most of what the input does";
  }
  if (sets_pace(ranked.judgement))
    return describe_culprit(ranked) + " " + describe_evidence(ranked.host, ranked.judgement);
  const bool is_warmup = ranked.judgement.phase == Phase::warmup;
  return fmt::format("{} of the {} ({} of {}) is in {}", format_share(ranked.judgement.culprit_share),
                     is_warmup ? "wait at the start" : "time waited", format_time(ranked.culprit_time()),
                     format_time(ranked.phase().waited), describe_culprit(ranked));
}

Evidence share_of(std::string name, double share) {
  return {std::move(name), share, "share"};
}

Evidence time_of(std::string name, Picoseconds time) {
  return {std::move(name), to_microseconds(time), "us"};
}

Evidence number_of(std::string name, std::uint64_t number, std::string unit) {
  return {std::move(name), static_cast<double>(number), std::move(unit)};
}

std::string busy_cores(const RankedPipeline& ranked) {
  const std::optional<double> utilization = cpu_utilization(ranked.pipeline, ranked.phase());
  if (!utilization) return fmt::format("{:.1f} cores", ranked.phase().busy_threads);
  const std::int64_t cores = *ranked.pipeline.cpu_budget;
  return fmt::format("{:.1f} of {} cores", *utilization * static_cast<double>(cores), cores);
}

}  // namespace doctor
