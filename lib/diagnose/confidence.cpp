#include "base/time.h"
#include "diagnose/judgement_passes.h"
#include "diagnose/user_code.h"
#include "model/pipeline_model.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

/// One call more is worth little beyond this: 1.5 calls halve the doubt once, nine calls leave a seventh.
constexpr double kCallsOfHalfDoubt = 1.5;

/// What a step that the trace shows whole adds to its only call: how long the job takes for that element is known. So
/// one step is enough for a verdict, barely, where its share is far from the limit.
constexpr double kWorthOfWholeStep = 0.5;

/// What is left where the culprit was found by who keeps threads and cores busy.
constexpr double kDoubtOfIndirectCulprit = 0.85;

/// What is left where much Python in the input may hold the lock: a trace does not distinguish computing from sleeping.
constexpr double kDoubtOfPythonLock = 0.65;

/// Waits of less of the time are short, whatever share a user calls input-bound.
constexpr double kShortWaits = 0.05;
/// What is left where nobody waits for long and a model says that the input takes the cores, or Python's lock.
constexpr double kDoubtOfCost = 0.8;

/// The least that is left where steps are late beside a working input: they may be late for reasons of their own.
constexpr double kLeastOfLateSteps = 0.6;

constexpr double kDoubtOfRival = 0.85;  ///< the same where a stage below the culprit is as busy as it

/// Jobs that stall every 20 steps are common (a file, a large batch, a checkpoint). So many calls without a stall halve
/// the doubt that there is none: a window of 20 calls is just sure (0.7), one of ten is not.
constexpr double kCallsOfSeldomStall = 5;

constexpr double kDoubtOfHalves = 0.6;       ///< what is left where the halves of the trace name different culprits
constexpr double kDoubtOfBusyMachine = 0.7;  ///< what is left where other programs keep many cores busy
/// Of the cores: so many kept busy by others leave it open what the job would wait for without them.
constexpr double kManyCoresOfOthers = 0.25;
constexpr double kDoubtWithoutCulprit =
    0.65;  ///< what is left where the job waits and the trace does not show for what

/// Elements that a Grain loader keeps ready, which a trace does not show. Source: the default of `prefetch_buffer_size`
/// in grain.ReadOptions (0.2.18).
constexpr std::size_t kKeptByGrain = 500;
/// What is left where no call waits and all elements may have been ready before the window.
constexpr double kDoubtOfKeptElements = 0.6;

/// Where Python's frames show who makes the elements, they show how many are made, too.
bool may_live_on_kept_elements(const PipelineEvidence& evidence) {
  const PipelineMeasurement& pipeline = evidence.pipeline;
  if (pipeline.next_of != kGrain || pipeline.calls.size() >= kKeptByGrain) return false;
  const BatchMaking* const making = batch_making_of(evidence.host, pipeline);
  return making == nullptr || making->made_by == MadeBy::processes;
}

/// In a loader written in Python, the slowest stage as confidence_in_lead() has it.
double confidence_in_stage(const PipelineEvidence& evidence) {
  const BatchMaking* const making = batch_making_of(evidence.host, evidence.pipeline);
  if (making == nullptr || !making->slowest || is_made_elsewhere(*making)) return kDoubtWithoutCulprit;
  return std::clamp(1.5 - making->slowest->share_of_next / making->slowest->share, 0.5, 1.0);
}

/// The share of the waits in which the walk ends at somebody's work, not at a hand-over or the edge of the window.
double explained_share(const PhaseMeasurement& phase) {
  if (phase.waited <= 0 || phase.culprit == kNoIterator) return 1;
  Picoseconds explained = 0;
  for (const auto& [iterator, time] : phase.critical.entries()) explained += time;
  return static_cast<double>(explained) / static_cast<double>(phase.waited);
}

/// 1 where the second holds at most half of what the culprit holds, a half where the two hold the same.
double confidence_in_lead(const ByIterator<Picoseconds>& critical, IteratorId culprit) {
  Picoseconds second = 0;
  for (const auto& [iterator, time] : critical.entries()) {
    if (iterator != culprit) second = std::max(second, time);
  }
  const auto first = static_cast<double>(std::max<Picoseconds>(critical[culprit], 1));
  return std::clamp(1.5 - static_cast<double>(second) / first, 0.5, 1.0);
}

double confidence_in_culprit(const PhaseMeasurement& phase, IteratorId culprit) {
  if (culprit == kNoIterator || phase.critical.entries().empty()) return kDoubtWithoutCulprit;
  const auto [first, second] = phase.culprits_of_halves;
  const bool halves_agree = first == second || first == kNoIterator || second == kNoIterator;
  return confidence_in_lead(phase.critical, culprit) * (halves_agree ? 1 : kDoubtOfHalves);
}

/// Whether the input keeps so much of the cores busy that it may make the training loop wait for one.
bool may_delay_steps(const PipelineEvidence& evidence) {
  return evidence.cores && evidence.cores->of_input >= evidence.thresholds["min_cores_taken"];
}

/// That steps which are late beside a working input are not so by its doing, to an amount that makes the job
/// input-bound together with the waits.
double confidence_in_steps(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  if (!may_delay_steps(evidence)) return 1;
  const CadenceShare& waited = evidence.pipeline.judged_cadence();
  const auto is_below = [&](double share) {
    return 1 - probability_above(share, with_drift(waited.error), waited.beats, evidence.thresholds["min_share"]);
  };
  const double without_delays = is_below(waited.share);
  return without_delays > 0 ? is_below(waited.share + judgement.late_share) / without_delays : 1;
}

/// On a host whose own cores train, an input that nobody waits for may cost steps all the same: at most the part of the
/// cores that it keeps busy while all of them are in use.
double confidence_in_cores(const PipelineEvidence& evidence) {
  const std::optional<CoresInUse>& cores = evidence.cores;
  if (!evidence.pipeline.input_load) return 1;
  const double taken = cores && cores->all >= evidence.thresholds["cores_missing"] ? cores->of_input : 0;
  const double lock =
      evidence.pipeline.input_load->python_share() > evidence.thresholds["much_python"] ? kDoubtOfPythonLock : 1;
  return std::min(1 - taken, lock);
}

Doubt doubt_about_load(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  if (confidence_in_steps(evidence, judgement) < confidence_in_cores(evidence)) {
    return doubts::LateSteps{judgement.late_share};
  }
  const CoresInUse cores = evidence.cores.value_or(CoresInUse{});
  if (cores.all < evidence.thresholds["cores_missing"])
    return doubts::PythonLock{evidence.pipeline.input_load->python_share()};
  return doubts::CoresInUse{cores.of_input * static_cast<double>(*evidence.pipeline.cpu_budget),
                            *evidence.pipeline.cpu_budget};
}

bool shares_machine(const PipelineMeasurement& pipeline) {
  const auto cores = static_cast<double>(pipeline.cpu_budget.value_or(0));
  return cores > 0 && pipeline.cores_of_others >= kManyCoresOfOthers * cores;
}

}  // namespace

Doubt weakest_part(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  const Confidence& confidence = judgement.confidence;
  const double of_level = std::min({confidence.side, confidence.calls, confidence.coverage});
  const double of_rest =
      std::min({confidence.culprit, confidence.load, confidence.window, confidence.tracing, confidence.machine});
  if (judgement.follows_whole_run) {
    const WholeRun& run = *judgement.whole_run;
    return doubts::WholeRunDecides{run.steps, run.recorded_wait_share, run.worst_first, run.worst_last};
  }
  const std::size_t calls = evidence.pipeline.steady.call_count;
  const bool has_level = confidence.in_level() >= evidence.thresholds["min_confidence"];
  if (has_level && evidence.pipeline.is_one_step) return doubts::OneStep{};
  if (has_level && of_rest < of_level) {
    if (of_rest == confidence.tracing) return doubts::SlowedByTracing{1 / confidence.tracing};
    if (of_rest == confidence.machine)
      return doubts::BusyMachine{evidence.pipeline.cores_of_others, *evidence.pipeline.cpu_budget};
    if (of_rest == confidence.load) return doubt_about_load(evidence, judgement);
    if (of_rest == confidence.culprit) {
      const BatchMaking* const making = batch_making_of(evidence.host, evidence.pipeline);
      if (making != nullptr && is_made_elsewhere(*making)) return doubts::OtherProcesses{evidence.pipeline.next_of};
      return doubts::NoLeader{calls};
    }
    if (may_live_on_kept_elements(evidence)) return doubts::KeptElements{kKeptByGrain};
    return doubts::SeldomStall{calls};
  }
  if (of_level == confidence.calls) return doubts::FewCalls{calls, evidence.pipeline.has_cadence};
  if (of_level == confidence.coverage) return doubts::OutsideTrace{1 - confidence.coverage};
  if (judgement.cost.takes != InputCost::Takes::nothing) return doubts::OnlyModelled{};
  return judgement.doubt;
}

Confidence confidence_of(const PipelineEvidence& evidence, const PipelineJudgement& judgement) {
  Confidence confidence = judgement.confidence;
  if (judgement.slowdown_by_tracing > kDistortion) confidence.tracing = 1 / judgement.slowdown_by_tracing;
  const bool is_bound = judgement.level == InputLevel::bound;
  const double calls = static_cast<double>(evidence.pipeline.steady.call_count) +
                       (evidence.pipeline.is_one_step ? kWorthOfWholeStep : 0);
  confidence.calls = calls / (calls + kCallsOfHalfDoubt);
  if (!is_bound) {
    confidence.load =
        std::min(confidence_in_cores(evidence), std::max(kLeastOfLateSteps, confidence_in_steps(evidence, judgement)));
    // What is said of one step is not said of others.
    const double seen = std::max(calls, judgement.whole_run ? static_cast<double>(judgement.whole_run->steps) : 0.0);
    confidence.window = evidence.pipeline.is_one_step ? 1 : seen / (seen + kCallsOfSeldomStall);
    if (may_live_on_kept_elements(evidence)) confidence.window = std::min(confidence.window, kDoubtOfKeptElements);
    return confidence;
  }
  if (shares_machine(evidence.pipeline)) confidence.machine = kDoubtOfBusyMachine;
  const bool is_costly = judgement.cost.takes != InputCost::Takes::nothing;
  if (is_costly) confidence.side = kDoubtOfCost;
  // Waits that are short are mostly what calls cost: no part of them that the window hides could hold the job up.
  const bool hides_nothing = is_costly || judgement.follows_whole_run || judgement.input_share < kShortWaits;
  confidence.coverage = hides_nothing ? 1 : std::min(1.0, explained_share(evidence.pipeline.steady));
  confidence.culprit = sets_pace(judgement) || is_costly ? kDoubtOfIndirectCulprit
                       : evidence.pipeline.next_of.empty()
                           ? confidence_in_culprit(evidence.pipeline.steady, judgement.culprit)
                           : confidence_in_stage(evidence);
  if (judgement.has_rival) confidence.culprit *= kDoubtOfRival;
  return confidence;
}

}  // namespace doctor
