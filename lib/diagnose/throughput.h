#pragma once

#include "diagnose/finding.h"
#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "model/prediction.h"

namespace doctor {

/// Changes that bring less are not advised unless the user asks for them: rates differ as much from run to run.
inline constexpr double kLeastGain = 1.03;

/// Enough for the steady state of any pipeline; a diagnosis must not take longer because of its model. Whatever tells
/// gains replays as far, so that all tell the same.
inline constexpr ReplayLimits kQuickReplay = {.events = 5'000, .events_for_sample = 20'000};

/// How much a diagnosis is to say.
enum class DiagnosisScope {
  report,  ///< all of it
  /// What a row of `batch` holds: no rate without input, not what several changes bring together, and not what rules
  /// asked.
  row,
  findings,  ///< what a comparison holds: what rules find and the verdict, not what changes bring
};

/// What limits the throughput of one host's pipelines: a model of them and what it says, each part computed when it is
/// first asked for. Refers to the measurement.
class Throughput {
 public:
  explicit Throughput(const HostMeasurement& host, DiagnosisScope scope = DiagnosisScope::report)
      : host_(&host), is_for_report_(scope != DiagnosisScope::row) {}

  /// The same about a copy of the measurement: the original need not live on.
  Throughput with(const HostMeasurement& host) const;

  bool is_for_report() const { return is_for_report_; }
  const HostMeasurement& host() const { return *host_; }

  const CycleSample& sample() const { return host_->cycles; }
  /// The share of the consumer's time, 0..1, by which what it does between its calls is longer than in the shortest
  /// quarter of the steps, ops on this host left out. A device, or a step that sleeps, takes the same time in each; 0
  /// of few steps.
  double late_share() const;
  /// The model as it is, even if it does not exist or does not reproduce the rate.
  const PipelineModel& any_model();
  /// Null where there is none, or where it does not reproduce the rate that was measured, so that only the waits count.
  const PipelineModel* model();
  /// Whether the sample's consumer takes elements of this pipeline, and perhaps of others in turn.
  bool takes_from(const PipelineMeasurement& pipeline) const;
  /// Whether there is a model, and of this pipeline.
  bool is_about(const PipelineMeasurement& pipeline);
  /// Whether there is a model of this pipeline that tells gains, in ranges that are wider the less it reproduces the
  /// rate: it need not be good enough for model().
  bool tells_gains_of(const PipelineMeasurement& pipeline);
  /// How many times as fast the pipeline is where nobody records it; 1 without a model.
  double slowdown_by_tracing();

  // Only if there is a model, or one that tells gains.

  /// Steps a second now, without the cost of tracing.
  double steps_per_s() const { return model_->now.steps_per_s; }
  /// The stages with most work, by what the throughput gains if their work takes no time.
  const std::vector<StageGain>& stages();
  /// The gain if the work of one stage takes no time.
  StageGain gain_of(IteratorId iterator);
  const Prediction& without_input();
  /// Several rules may advise one change, and what-if asks again: it is predicted once.
  const Prediction& prediction_of(std::span<const Fix> fixes);
  Gain gain_of(std::span<const Fix> fixes) { return {model_->now.steps_per_s, prediction_of(fixes)}; }
  /// The most that its factor can be, without a replay.
  double most_gain_of(const Fix& fix) const;
  /// The fixes that the model knows, of the busiest stages first.
  std::vector<Fix> candidates() const;

 private:
  const HostMeasurement* host_;
  bool is_for_report_ = true;
  std::optional<PipelineModel> model_;
  std::optional<std::vector<StageGain>> stages_;
  std::optional<Prediction> without_input_;
  std::vector<std::pair<std::vector<Fix>, Prediction>> predictions_;  ///< of the changes that were asked for
};

/// Indexed as Measurements::hosts.
using Throughputs = std::vector<Throughput>;

/// The stage that limits the throughput: of all it gains most if its work takes no time.
struct LimitingStage {
  IteratorId stage = kNoIterator;  ///< where another one than the culprit clearly limits it
  double gain = 0;                 ///< of the stage that gains most
  double gain_of_culprit = 0;
  IteratorId rival = kNoIterator;  ///< that one, where it cannot be distinguished from the culprit
};
/// Only if there is a model.
LimitingStage find_limiting_stage(Throughput& throughput, const PipelineMeasurement& pipeline, IteratorId culprit);

}  // namespace doctor
