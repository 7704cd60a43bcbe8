#pragma once

#include <optional>
#include <span>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "model/prediction.h"

namespace doctor {

/// Changes that bring less are not advised unless the user asks for them: rates differ as much from run to run.
inline constexpr double kLeastGain = 1.03;

/// What limits the throughput of one host's pipelines: a model of them and what it says, each part computed when it is
/// first asked for. Refers to the measurement.
class Throughput {
 public:
  explicit Throughput(const HostMeasurement& host) : host_(&host) {}

  const CycleSample& sample() const { return host_->cycles; }
  /// Null where there is none, or where it does not reproduce the rate that was measured, so that only the waits count.
  const PipelineModel* model();
  /// Whether the model's consumer takes elements of this pipeline, and perhaps of others in turn.
  bool is_about(const PipelineMeasurement& pipeline);

  // Only if there is a model.

  /// The stages with most work, by what the throughput gains if their work takes no time.
  const std::vector<StageGain>& stages();
  /// The same of one stage.
  StageGain gain_of(IteratorId iterator);
  const Prediction& without_input();
  Gain gain_of(std::span<const Fix> fixes);

 private:
  const HostMeasurement* host_;
  std::optional<PipelineModel> model_;
  std::optional<std::vector<StageGain>> stages_;
  std::optional<Prediction> without_input_;
};

/// Of each host, in order.
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

/// On a host whose own cores compute: what the input takes from the training although nobody waits for long.
InputCost find_input_cost(Throughput& throughput, const PipelineMeasurement& pipeline,
                          const ThresholdValues& thresholds);

/// Whether advice with the gain `a` comes before advice with the gain `b`: in steps of a tenth, below which predictions
/// do not differ; less is expected of what depends on a condition that the trace does not show.
bool brings_more(const Gain& a, const Gain& b);

/// Sets the gain of every advice that a model can predict, of the first findings where there are very many, takes out
/// what gains less than `least_gain`, and puts the findings with known gains first, by gain.
void predict_gains(Throughputs& throughputs, const Measurements& measurements, const Judgement& judgement,
                   double least_gain, std::vector<Finding>& findings);

}  // namespace doctor
