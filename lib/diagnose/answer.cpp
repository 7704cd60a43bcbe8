#include "diagnose/answer.h"

#include "diagnose/caching.h"
#include "diagnose/culprit_function.h"
#include "diagnose/recording.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

bool is_judged(const Judgement& judgement) {
  const bool has_level = !judgement.pipelines.empty() && judgement.pipelines.front().level != InputLevel::unknown;
  return has_level && (judgement.status == VerdictStatus::input_bound || judgement.status == VerdictStatus::healthy);
}

std::optional<WaitingHosts> waiting_hosts(const HostComparison& comparison) {
  if (!comparison.is_possible()) return std::nullopt;
  const std::size_t waiting = comparison.bound_count();
  if (waiting == 0 || waiting == comparison.compared_count) return std::nullopt;
  return WaitingHosts{waiting, comparison.compared_count, comparison.are_windows};
}

/// The stage that threads work at most; empty where no frame shows one.
std::string busiest_of_makers(const BatchMaking& making) {
  const auto busiest =
      std::max_element(making.stages.begin(), making.stages.end(),
                       [](const LoaderStage& a, const LoaderStage& b) { return a.in_makers < b.in_makers; });
  return busiest == making.stages.end() || busiest->in_makers <= 0 ? std::string() : describe(*busiest);
}

std::optional<HiddenWork> hidden_work(const PipelineView& view) {
  const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
  if (view.judgement.level == InputLevel::bound || making == nullptr) return std::nullopt;
  const bool is_elsewhere = making->made_by == MadeBy::processes || is_made_elsewhere(*making);
  if (is_elsewhere) return HiddenWork{{}, 0, 0, making->is_of_keras ? "Keras" : view.pipeline.next_of};
  const std::string function = making->is_of_keras ? making->function : busiest_of_makers(*making);
  if (making->workers == 0 || function.empty()) return std::nullopt;
  return HiddenWork{function, making->workers, making->typical, {}};
}

Verdict verdict_of(const Diagnosis& diagnosis, const std::vector<PipelineView>& pipelines) {
  Verdict verdict;
  verdict.status = diagnosis.judgement.status;
  if (!is_judged(diagnosis.judgement)) return verdict;
  const PipelineView& worst = pipelines.front();
  const PipelineJudgement& judged = worst.judgement;
  verdict.certainty = diagnosis.judgement.confidence < kSureConfidence ? Certainty::probable : Certainty::sure;
  verdict.level = judged.level;
  verdict.is_of_devices = worst.pipeline.exposed.has_value();
  verdict.is_one_step = worst.pipeline.is_one_step;
  verdict.wait_share = judged.input_share;
  verdict.lost_share = judged.lost_share;
  if (judged.follows_whole_run) verdict.recorded_share = judged.whole_run->recorded_wait_share;
  verdict.cost = judged.cost;
  const std::optional<std::size_t> call = worst.pipeline.judged_trimmed_cadence().without_call;
  if (judged.sets_call_aside && call) {
    const Interval span = worst.pipeline.calls[*call];
    verdict.set_aside = CallSetAside{span.end - span.start, *call + 1, worst.pipeline.judged_cadence().share};
  }
  verdict.hosts = waiting_hosts(diagnosis.hosts);
  verdict.hidden = hidden_work(worst);
  return verdict;
}

std::optional<Cause> cause_of(const PipelineView& worst) {
  if (worst.judgement.culprit == kNoIterator) {
    if (!worst.is_slow()) return std::nullopt;
    return Cause{worst, kNoIterator, worst.pipeline.next_of, false, {}};
  }
  if (!names_culprit(worst.judgement)) return std::nullopt;
  const bool is_warmup = worst.judgement.phase == Phase::warmup;
  return Cause{worst, worst.judgement.culprit, {}, is_warmup, worst.function().main_ops()};
}

std::optional<Rates> rates_of(const PipelineJudgement& judged) {
  if (judged.level != InputLevel::bound || judged.steps_per_s <= 0) return std::nullopt;
  return Rates{judged.steps_per_s, judged.steps_per_s_without_input,
               judged.has_clocked_rate     ? RateSource::clocked
               : judged.has_recorded_rates ? RateSource::recorded
                                           : RateSource::model};
}

/// Rates that add up are told one on top of the other as long as each gains.
std::vector<FixAnswer> fixes_of(const Diagnosis& diagnosis) {
  std::vector<FixAnswer> fixes;
  std::vector<std::optional<std::size_t>> position(diagnosis.changes.size());
  double rate = 0;  // after the fixes so far that add up
  for (std::size_t index = 0; index < diagnosis.changes.size(); ++index) {
    const Change& change = diagnosis.changes[index];
    const Finding& finding = diagnosis.findings[change.finding];
    if (finding.suppressed) continue;
    position[index] = fixes.size();
    FixAnswer& fix = fixes.emplace_back();
    fix.finding = &finding;
    fix.advice = &finding.advice[change.advice];
    fix.is_unproven = change.is_unproven;
    if (change.instead_of) fix.instead_of = position[*change.instead_of];
    fix.gain = fix.advice->gain;
    fix.rate_before = fix.gain ? fix.gain->now : 0;
    const bool is_first = !change.instead_of && rate == 0 && fix.gain;
    if (is_first && fix.gain->then.condition == Condition::none) rate = fix.gain->then.estimate;
    if (!change.together || rate == 0 || change.together->then.estimate < kLeastGain * rate) continue;
    fix.gain = change.together;
    fix.adds_up = true;
    fix.rate_before = rate;
    rate = change.together->then.estimate;
  }
  return fixes;
}

void explain_missing_gains(const Diagnosis& diagnosis, const PipelineJudgement& judged, Answer& answer) {
  if (judged.level != InputLevel::bound) return;
  for (const Finding& finding : diagnosis.findings) {
    for (const Advice& advice : finding.advice) {
      if (advice.gain) return;
      if (answer.no_gain_because == NoGainBecause::nobody_waits) answer.no_gain_because = advice.no_gain_because;
    }
  }
  answer.no_fix_gains = judged.bottleneck.has_value();
}

/// `has_model`: there are iterators of which changes can be predicted.
NextStep next_of(const Answer& answer, bool has_model) {
  if (answer.verdict.status == VerdictStatus::input_bound && has_model) return NextStep::try_fixes;
  return answer.verdict.status == VerdictStatus::healthy ? NextStep::look_elsewhere : NextStep::look_inside;
}

}  // namespace

Answer answer_of(const Measurements& measurements, const Diagnosis& diagnosis) {
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  Answer answer;
  answer.verdict = verdict_of(diagnosis, pipelines);
  answer.fixes = fixes_of(diagnosis);
  answer.next = next_of(answer, !pipelines.empty() && pipelines.front().pipeline.root != kNoIterator);
  const bool has_verdict = answer.verdict.certainty != Certainty::unknown;
  if (const std::optional<doubts::TornFile> torn = torn_file(measurements); torn && !has_verdict) answer.doubt = *torn;
  if (pipelines.empty()) return answer;
  const PipelineView& worst = pipelines.front();
  const bool is_sure = answer.verdict.certainty == Certainty::sure;
  const bool is_doubtful = !is_sure && answer.verdict.status != VerdictStatus::no_input_pipeline;
  if (is_doubtful && !is_known(answer.doubt)) answer.doubt = worst.judgement.doubt;
  if (names_culprit(worst.judgement)) answer.filling_cache = filling_cache(worst.host, worst.pipeline);
  if (std::optional<Cause> cause = cause_of(worst)) answer.cause.emplace(*std::move(cause));
  answer.rates = rates_of(worst.judgement);
  explain_missing_gains(diagnosis, worst.judgement, answer);
  return answer;
}

std::vector<PipelineView> pipelines_of(const Measurements& measurements, const Judgement& judgement) {
  std::vector<PipelineView> views;
  for (const PipelineJudgement& judged : judgement.pipelines) views.push_back(view_of(measurements, judged));
  return views;
}

bool names_culprit(const PipelineJudgement& judgement) {
  if (judgement.culprit == kNoIterator || judgement.level == InputLevel::unknown) return false;
  if (judgement.phase == Phase::background) return false;
  return judgement.phase == Phase::warmup || judgement.level != InputLevel::not_bound;
}

Loss total_loss(const Measurements& measurements) {
  Loss total;
  for (const HostMeasurement& host : measurements.hosts) total.add(host.loss);
  return total;
}

std::uint64_t event_count(const Measurements& measurements) {
  std::uint64_t events = 0;
  for (const HostMeasurement& host : measurements.hosts) events += host.event_count;
  return events;
}

std::optional<double> input_share_of(const PipelineView& view) {
  if (view.judgement.level == InputLevel::unknown) return std::nullopt;
  return view.judgement.lost_share.value_or(view.judgement.input_share);
}

}  // namespace doctor
