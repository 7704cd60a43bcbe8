#include "diagnose/throughput.h"

#include <algorithm>

#include "base/time.h"
#include "diagnose/cores.h"
#include "diagnose/judgement_passes.h"
#include "model/candidates.h"

namespace doctor {
namespace {

constexpr std::size_t kRankedStages = 5;
/// Gains of stages that are closer cannot be distinguished. Source: the same for the truth of labelled traces, where a
/// stage is made free.
constexpr double kTie = 0.15;
constexpr double kLeastDifference = 0.03;
bool is_member(const PipelineMeasurement& pipeline, IteratorId iterator) {
  return std::binary_search(pipeline.members.begin(), pipeline.members.end(), iterator);
}

}  // namespace

double Throughput::late_share() const {
  constexpr std::size_t kFewestSteps = 8;
  if (sample().consumers.empty() || sample().consumers.front().steps.size() < kFewestSteps) return 0;
  std::vector<double> rests;
  double time = 0;
  for (const ConsumerStep& step : sample().consumers.front().steps) {
    rests.push_back(std::max(0.0, step.gap - step.busy));
    time += to_microseconds(step.call.end - step.call.start) + step.gap;
  }
  std::nth_element(rests.begin(), rests.begin() + static_cast<std::ptrdiff_t>(rests.size() / 4), rests.end());
  const double usual = rests[rests.size() / 4];
  double late = 0;
  for (const double rest : rests) late += std::max(0.0, rest - usual);
  return time > 0 ? late / time : 0;
}

const PipelineModel* Throughput::model() {
  if (!model_) model_ = model_of(*host_, kQuickReplay);
  return model_->is_reliable() ? &*model_ : nullptr;
}

bool Throughput::takes_from(const PipelineMeasurement& pipeline) const {
  if (sample().consumers.empty()) return false;
  const IteratorId root = sample().consumers.front().root;
  return !pipeline.feeds_another && pipeline.root != kNoIterator && (root == pipeline.root || root == kNoIterator);
}

bool Throughput::is_about(const PipelineMeasurement& pipeline) {
  return model() != nullptr && takes_from(pipeline);
}

bool Throughput::tells_gains_of(const PipelineMeasurement& pipeline) {
  static_cast<void>(model());
  return model_->tells_gains() && takes_from(pipeline);
}

double Throughput::slowdown_by_tracing() {
  static_cast<void>(model());
  return model_->exists() ? tracing_slowdown(*model_) : 1;
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
  auto known = std::find_if(predictions_.begin(), predictions_.end(), [&](const auto& prediction) {
    return std::equal(fixes.begin(), fixes.end(), prediction.first.begin(), prediction.first.end());
  });
  if (known == predictions_.end()) {
    known = predictions_.insert(known, {{fixes.begin(), fixes.end()}, predict(*model_, fixes, kQuickReplay)});
  }
  return {model_->now.steps_per_s, known->second};
}

double Throughput::most_gain_of(const Fix& fix) const {
  return most_speedup(*model_, edit_for(std::span(&fix, 1), *model_));
}

std::vector<Fix> Throughput::candidates() const {
  return candidate_fixes(*model_);
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

InputCost find_input_cost(Throughput& throughput, const PipelineMeasurement& pipeline, double waited,
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
  const double saved = cost.share_saved();
  if (saved < thresholds["min_share"] || saved - waited < saved / 2) return cost;
  cost.takes = takes_cores ? InputCost::Takes::cores : InputCost::Takes::python_lock;
  return cost;
}

namespace {

/// Recording slows an input of many ops down more than the loop that takes its elements. Where a device computes, what
/// launches its work is slowed down as well. Steps that were faster than recorded ones without their waits lived on
/// stored elements.
void take_clocked_rate(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  const double clocked = judged.steps_per_s * host.clocked_slowdown.value_or(1);
  if (pipeline.exposed || clocked <= judged.steps_per_s || clocked >= judged.steps_per_s_without_input) return;
  judged.has_clocked_rate = true;
  judged.steps_per_s = clocked;
}

/// What no model tells: the steps as they were recorded, and without their waits.
void take_recorded_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  constexpr double kLeastWithoutInput = 0.001;  // of the time: a consumer that does nothing else has no rate of its own
  const std::size_t first = pipeline.warmup_count;
  const double share = pipeline.judged_cadence().share;
  if (pipeline.feeds_another || !pipeline.has_cadence || first + 1 >= pipeline.calls.size()) return;
  const Picoseconds time = pipeline.calls.back().start - pipeline.calls[first].start;
  if (time <= 0 || share >= 1 - kLeastWithoutInput) return;
  judged.has_recorded_rates = true;
  judged.steps_per_s = 1e6 * static_cast<double>(pipeline.calls.size() - 1 - first) / to_microseconds(time);
  judged.steps_per_s_without_input = judged.steps_per_s / (1 - share);
  take_clocked_rate(host, pipeline, judged);
}

void take_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, Throughput& throughput,
                PipelineJudgement& judged) {
  if (!throughput.tells_gains_of(pipeline)) return take_recorded_rates(host, pipeline, judged);
  judged.steps_per_s = throughput.steps_per_s();
  if (!throughput.is_for_report() && !pipeline.exposed) return;
  judged.steps_per_s_without_input = throughput.without_input().estimate;
  const double lost = 1 - judged.steps_per_s / std::max(judged.steps_per_s, judged.steps_per_s_without_input);
  if (pipeline.exposed && lost > judged.input_share) judged.lost_share = lost;
}

/// What a model tells of a slow pipeline. Returns whether it says more about a job that waits.
bool judge_by_model(const HostMeasurement& host, const PipelineMeasurement& pipeline, const ThresholdValues& thresholds,
                    Throughput& throughput, PipelineJudgement& judged) {
  if (judged.level != InputLevel::unknown)
    judged.cost = find_input_cost(throughput, pipeline, judged.input_share, thresholds);
  if (judged.cost.takes != InputCost::Takes::nothing) judged.level = InputLevel::bound;
  const bool is_slow = judged.level == InputLevel::bound || judged.level == InputLevel::mild;
  if (!is_slow) return false;
  take_rates(host, pipeline, throughput, judged);
  if (!throughput.is_about(pipeline)) return false;
  judged.bottleneck = throughput.model()->now.limited_by;
  return true;
}

}  // namespace

bool judge_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, const ThresholdValues& thresholds,
                 Throughput& throughput, PipelineJudgement& judged) {
  // What the other steps waited for is not in the trace: there is no model of it.
  const bool has_model = !judged.follows_whole_run && judge_by_model(host, pipeline, thresholds, throughput, judged);
  if (judged.level == InputLevel::not_bound && throughput.takes_from(pipeline)) {
    judged.late_share = throughput.late_share();
  }
  if (judged.level == InputLevel::bound) judged.slowdown_by_tracing = throughput.slowdown_by_tracing();
  return has_model;
}

}  // namespace doctor
