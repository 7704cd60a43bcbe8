#pragma once

#include "diagnose/culprit_function.h"
#include "diagnose/rule.h"

namespace doctor {

/// A pipeline that a consumer waits for, and that rules ask about. Pipelines that only feed another one are not ranked,
/// as their time is part of the other's waits, nor are those that the training does not wait for.
using RankedPipeline = PipelineView;

/// Which pipelines a rule about culprits looks at.
enum class Waits {
  bound,         ///< the job is input-bound
  slow,          ///< that, or waits worth a note
  even_at_start  ///< that, or only the first calls were slow
};

/// "63 % of the time is spent in GetNext"; where the trace shows what devices compute, "12 % of the time no device
/// computes while GetNext waits". Where the judgement sets a call aside: "1.0 % of the time is spent in GetNext without
/// the 142.1 ms of call 20, 39 % with it".
std::string input_part(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement);

/// The culprit as the user finds it in her code; where several calls of its method stand in the pipeline, with the ops
/// of its function that tell it apart: "your 2nd map (DecodeJpeg, ResizeBilinear)". Only if there is
/// one.
std::string describe_culprit(const PipelineView& view);

/// What a rule misses where the level of a pipeline is unknown.
inline constexpr const char* kTooLittleEvidence = "too little evidence for a verdict";

/// Why the culprit is another iterator than the one that the waits end at, as a clause of which it is the subject:
/// "sets the pace: its thread works 87% of the time, ..."; empty where it is the same.
std::string describe_evidence(const HostMeasurement& host, const PipelineJudgement& judgement);

/// Asks whether the culprit matters enough for a rule about it: it sets the pace, or holds the threshold
/// `min_culprit_share` of the waits.
bool holds_job_up(const RankedPipeline& ranked, Examiner& examiner);

/// Asks whether the pipeline is one that the rule looks at.
bool is_waited_for(const RankedPipeline& ranked, Waits waits, Examiner& examiner);

/// "the culprit, Dataset.batch, is a source": a statement that may be true or not.
std::string culprit_words(const RankedPipeline& ranked, std::string_view kind);
/// culprit_words() as a statement for Examiner::holds().
inline auto culprit_is(const RankedPipeline& ranked, std::string_view kind) {
  return [&ranked, kind] { return culprit_words(ranked, kind); };
}

/// What a rule says of one pipeline. It asks through the examiner and ends at the first answer against it.
using PipelineCheck = std::function<std::optional<Finding>(const RankedPipeline&, Examiner&)>;

/// Asks about every ranked pipeline, worst first. What several pipelines of a host share is reported once. Misses its
/// evidence where the trace has no call of a consumer.
RuleResult for_each_pipeline(const RuleContext& context, const PipelineCheck& check);

/// As for_each_pipeline(), for pipelines that are waited for and whose culprit is known. Misses its evidence where a
/// consumer waits for a pipeline whose inside the trace does not show.
RuleResult for_each_culprit(const RuleContext& context, Waits waits, const PipelineCheck& check);

/// As for_each_culprit(), for bound pipelines whose culprit works on several elements at once.
RuleResult for_each_parallel_culprit(const RuleContext& context, const PipelineCheck& check);

/// A rule's check from its question: `.check = each_culprit<Waits::bound, check_culprit>`.
template <auto kCheck>
RuleResult each_pipeline(const RuleContext& context) {
  return for_each_pipeline(context, kCheck);
}
template <Waits kWaits, auto kCheck>
RuleResult each_culprit(const RuleContext& context) {
  return for_each_culprit(context, kWaits, kCheck);
}
template <auto kCheck>
RuleResult each_parallel_culprit(const RuleContext& context) {
  return for_each_parallel_culprit(context, kCheck);
}

/// How much of the CPU budget is in use during the waits, if it is at least the threshold `min_utilization`. Misses its
/// evidence where the trace does not say how many cores there are.
std::optional<Evidence> used_up_cores(const RankedPipeline& ranked, Examiner& examiner);

/// How much of the CPU budget is in use during the waits, if it is at most the threshold `max_utilization`. Where the
/// number of cores is unknown, cores are idle if even one would be.
std::optional<Evidence> idle_cores(const RankedPipeline& ranked, Examiner& examiner);

/// Asks about the trace as a whole, once.
using TraceCheck = std::function<std::optional<Finding>(Examiner&)>;
RuleResult for_trace(const RuleContext& context, const TraceCheck& check);

/// Asks about every host that is one of these.
using HostCheck = std::function<std::optional<Finding>(const HostMeasurement&, Examiner&)>;
RuleResult for_each_host(
    const RuleContext& context, const HostCheck& check,
    bool (*is_one)(const HostMeasurement& host) = [](const HostMeasurement&) { return true; });
template <auto kCheck>
RuleResult each_host(const RuleContext& context) {
  return for_each_host(context, kCheck);
}

/// Why no pipeline can be judged, for a person.
std::string why_nothing_is_judged(const Measurements& measurements);

/// Part of the culprit's time in which ops of its function ran, Python ops included; at most 1. Ops that take next to
/// no time have no events, so a function of such ops has 0 like none at all.
double share_in_ops(const RankedPipeline& ranked);

/// Whether Python is what the culprit's function mostly does: from a half on.
inline bool is_mostly_python(const RankedPipeline& ranked) {
  return ranked.function().python_share() >= 0.5;
}

/// A finding about the culprit: its name, its share of the waits as evidence and as the time at stake.
Finding culprit_finding(const RankedPipeline& ranked, std::string message);

/// "99.5 % of the time waited (753.7 ms of 757.5 ms) is in Dataset.map", "Dataset.map sets the pace: its thread is at
/// work 87 % of the time": how messages about a culprit begin.
std::string culprit_part(const RankedPipeline& ranked);

Evidence share_of(std::string name, double share);
Evidence time_of(std::string name, Picoseconds time);
Evidence number_of(std::string name, std::uint64_t number, std::string unit = {});

/// "1.7 of 2 cores" that were busy during the judged waits; "0.1 cores" where the trace does not say of how many.
std::string busy_cores(const RankedPipeline& ranked);

}  // namespace doctor
