#pragma once

#include <optional>
#include <vector>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

/// From here on a verdict is sure: docs/configuration.md says what the confidence means.
inline constexpr double kSureConfidence = 0.7;

/// A judged pipeline with the measurements that it refers to.
struct PipelineView {
  const HostMeasurement& host;
  const PipelineMeasurement& pipeline;
  const PipelineJudgement& judgement;

  const PhaseMeasurement& phase() const { return judged_phase(pipeline, judgement); }
  /// Only if the judgement has a culprit.
  const IteratorMeasurement& culprit() const { return host.iterators[judgement.culprit]; }
};

/// All pipelines, worst first.
std::vector<PipelineView> pipelines_of(const Measurements& measurements, const Judgement& judgement);

/// Whether the judgement names an iterator that somebody waits for: in a pipeline that holds its consumer up, or held
/// it up while it warmed up. The busiest iterator of a pipeline that keeps up is not a bottleneck.
bool names_culprit(const PipelineJudgement& judgement);

/// The losses of all files together.
Loss total_loss(const Measurements& measurements);

std::uint64_t event_count(const Measurements& measurements);

/// Share of the time that the consumer waits; nullopt if no call was seen.
std::optional<double> input_share_of(const PipelineView& view);

}  // namespace doctor
