#include "diagnose/throughput.h"

#include <algorithm>
#include <cmath>

#include "diagnose/cores.h"
#include "diagnose/throughput_words.h"

namespace doctor {
namespace {

/// Enough for the steady state of any pipeline; a diagnosis must not take longer because of its model.
constexpr ReplayLimits kQuickReplay = {.events = 5'000};
constexpr std::size_t kRankedStages = 5;
/// Gains of stages that are closer cannot be distinguished. Source: the same for the truth of labelled traces, where a
/// stage is made free.
constexpr double kTie = 0.15;
constexpr double kLeastDifference = 0.03;
/// Changes of one host that are predicted, of the worst findings first. A prediction costs a fixed sum, a trace may
/// have a finding for each of a hundred thousand pipelines, and nobody reads so many gains.
constexpr std::size_t kMostPredictions = 128;

bool is_member(const PipelineMeasurement& pipeline, IteratorId iterator) {
  return std::binary_search(pipeline.members.begin(), pipeline.members.end(), iterator);
}

const Gain* gain_of_best(const Finding& finding) {
  for (const Advice& advice : finding.advice) {
    if (advice.gain) return &*advice.gain;
  }
  return nullptr;
}

}  // namespace

bool brings_more(const Gain& a, const Gain& b) {
  constexpr double kWithCondition = 0.8;
  constexpr double kStep = 1.1;
  const auto steps = [&](const Gain& gain) {
    const double worth = gain.factor() * (gain.then.condition == Condition::none ? 1 : kWithCondition);
    return std::floor(std::log(std::max(worth, 0.01)) / std::log(kStep));
  };
  return steps(a) > steps(b);
}

const PipelineModel* Throughput::model() {
  if (!model_) model_ = model_of(*host_, kQuickReplay);
  return model_->is_reliable() ? &*model_ : nullptr;
}

bool Throughput::is_about(const PipelineMeasurement& pipeline) {
  const PipelineModel* const model = this->model();
  if (model == nullptr || pipeline.feeds_another) return false;
  const IteratorId root = model->sample().consumers.front().root;
  return pipeline.root != kNoIterator && (root == pipeline.root || root == kNoIterator);
}

const std::vector<StageGain>& Throughput::stages() {
  if (!stages_) stages_ = rank_stages(*model_, kRankedStages, kQuickReplay);
  return *stages_;
}

StageGain Throughput::gain_of(IteratorId iterator) {
  const auto stage = static_cast<StageIndex>(index_of(iterator));
  for (const StageGain& gain : stages()) {
    if (gain.stage == stage) return gain;
  }
  Edit edit;
  edit.free.insert(stage);
  return {stage, replay_after(*model_, edit, kQuickReplay).steps_per_s, 0};
}

const Prediction& Throughput::without_input() {
  if (!without_input_) without_input_ = predict_without_input(*model_, kQuickReplay);
  return *without_input_;
}

Gain Throughput::gain_of(std::span<const Fix> fixes) {
  return {model_->now.steps_per_s, predict(*model_, fixes, kQuickReplay), {}};
}

LimitingStage find_limiting_stage(Throughput& throughput, const PipelineMeasurement& pipeline, IteratorId culprit) {
  LimitingStage limiting;
  const PipelineModel& model = *throughput.model();
  const auto& stages = throughput.stages();
  const auto best = std::find_if(stages.begin(), stages.end(), [&](const StageGain& stage) {
    return is_member(pipeline, static_cast<IteratorId>(stage.stage));
  });
  if (best == stages.end()) return limiting;
  limiting.gain = best->gain(model);
  limiting.gain_of_culprit = throughput.gain_of(culprit).gain(model);
  const auto stage = static_cast<IteratorId>(best->stage);
  if (stage == culprit) return limiting;
  const double difference = limiting.gain - limiting.gain_of_culprit;
  const bool is_clear = difference > kTie * limiting.gain && difference > kLeastDifference;
  (is_clear ? limiting.stage : limiting.rival) = stage;
  return limiting;
}

InputCost find_input_cost(Throughput& throughput, const PipelineMeasurement& pipeline,
                          const ThresholdValues& thresholds) {
  InputCost cost;
  if (!pipeline.input_load) return cost;
  const std::optional<CoresInUse> cores = cores_in_use(pipeline);
  const bool takes_cores =
      cores && cores->all >= thresholds["cores_missing"] && cores->of_input >= thresholds["min_cores_taken"];
  const bool takes_lock = throughput.sample().python_lock == PythonLock::held &&
                          pipeline.input_load->python_share() > thresholds["much_python"];
  if ((!takes_cores && !takes_lock) || !throughput.is_about(pipeline)) return cost;
  const PipelineModel& model = *throughput.model();
  cost.speedup_without_input = throughput.without_input().gain(model);
  if (cost.speedup_without_input < 1 + thresholds["min_share"]) return cost;
  cost.takes = takes_cores ? InputCost::Takes::cores : InputCost::Takes::python_lock;
  return cost;
}

namespace {

/// Puts the findings of one severity whose gain is known in the order of the gains; the others keep their places.
void order_by_gain(std::vector<Finding>& findings) {
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    std::vector<std::size_t> places;
    for (std::size_t index = 0; index < findings.size(); ++index) {
      if (findings[index].severity == severity && gain_of_best(findings[index]) != nullptr) places.push_back(index);
    }
    std::vector<Finding> known;
    for (const std::size_t place : places) known.push_back(std::move(findings[place]));
    std::stable_sort(known.begin(), known.end(), [](const Finding& a, const Finding& b) {
      return brings_more(*gain_of_best(a), *gain_of_best(b));
    });
    for (std::size_t index = 0; index < places.size(); ++index) findings[places[index]] = std::move(known[index]);
  }
}

}  // namespace

void predict_gains(Throughputs& throughputs, const Measurements& measurements, const Judgement& judgement,
                   double least_gain, std::vector<Finding>& findings) {
  std::vector<std::size_t> predictions(throughputs.size(), 0);
  for (Finding& finding : findings) {
    if (!finding.host || !finding.pipeline) continue;
    const PipelineJudgement& judged = judgement.pipelines[*finding.pipeline];
    const PipelineMeasurement& pipeline = measurements.hosts[judged.host].pipelines[judged.pipeline];
    Throughput& throughput = throughputs[judged.host];
    const bool is_slow = judged.level == InputLevel::bound || judged.level == InputLevel::mild;
    if (!is_slow || !throughput.is_about(pipeline)) continue;
    for (Advice& advice : finding.advice) {
      if (advice.fixes.empty() || predictions[judged.host] == kMostPredictions) continue;
      ++predictions[judged.host];
      advice.gain = throughput.gain_of(advice.fixes);
      advice.gain->then_limited_by =
          describe_bottleneck(measurements.hosts[judged.host], advice.gain->then.then_limited_by);
    }
    const auto is_useless = [&](const Advice& advice) { return advice.gain && advice.gain->factor() < least_gain; };
    const auto useless = std::stable_partition(finding.advice.begin(), finding.advice.end(),
                                               [&](const Advice& advice) { return !is_useless(advice); });
    finding.without_gain.assign(useless, finding.advice.end());
    finding.advice.erase(useless, finding.advice.end());
    // What explains a change that gains nothing is of no use either.
    if (!finding.without_gain.empty() && std::none_of(finding.advice.begin(), finding.advice.end(),
                                                      [](const Advice& advice) { return advice.code.has_value(); })) {
      finding.without_gain.insert(finding.without_gain.end(), finding.advice.begin(), finding.advice.end());
      finding.advice.clear();
    }
    std::stable_sort(finding.advice.begin(), finding.advice.end(), [](const Advice& a, const Advice& b) {
      return a.gain && b.gain && brings_more(*a.gain, *b.gain);
    });
  }
  order_by_gain(findings);
}

}  // namespace doctor
