#include "diagnose/throughput.h"

#include "model/candidates.h"

namespace doctor {
namespace {

constexpr std::size_t kRankedStages = 5;  // each costs a replay, and those with most work come first
/// Gains of stages that are closer cannot be distinguished. Source: the same for the truth of labelled traces, where a
/// stage is made free.
constexpr double kTie = 0.15;
constexpr double kLeastDifference = 0.03;  // of the gain: shares of windows drift by as much
bool is_member(const PipelineMeasurement& pipeline, IteratorId iterator) {
  return std::binary_search(pipeline.members.begin(), pipeline.members.end(), iterator);
}

}  // namespace

Throughput Throughput::with(const HostMeasurement& host) const {
  Throughput copy = *this;
  copy.host_ = &host;
  if (copy.model_) copy.model_->host = &host;
  return copy;
}

double Throughput::late_share() const {
  constexpr std::size_t kFewestSteps = 8;  // a quarter of fewer is one step
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

const PipelineModel& Throughput::any_model() {
  if (!model_) model_ = model_of(*host_, kQuickReplay);
  return *model_;
}

const PipelineModel* Throughput::model() {
  return any_model().is_reliable() ? &*model_ : nullptr;
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
  return any_model().tells_gains() && takes_from(pipeline);
}

double Throughput::slowdown_by_tracing() {
  return any_model().exists() ? tracing_slowdown(*model_) : 1;
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

const Prediction& Throughput::prediction_of(std::span<const Fix> fixes) {
  auto known = std::find_if(predictions_.begin(), predictions_.end(), [&](const auto& prediction) {
    return std::equal(fixes.begin(), fixes.end(), prediction.first.begin(), prediction.first.end());
  });
  if (known == predictions_.end()) {
    known = predictions_.insert(known, {{fixes.begin(), fixes.end()}, predict(*model_, fixes, kQuickReplay)});
  }
  return known->second;
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

}  // namespace doctor
