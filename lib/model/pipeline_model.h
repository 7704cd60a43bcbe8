#pragma once

#include <limits>
#include <vector>

#include "measure/measurements.h"
#include "model/edit.h"
#include "model/replay.h"

namespace doctor {

/// A model of one host's pipelines, which replays their cycles. It refers to the measurement.
struct PipelineModel {
  const HostMeasurement* host = nullptr;
  SampleFacts facts;     ///< of its cycles
  Programs unchanged;    ///< programs of the cycles, without the cost of tracing
  double cpu_scale = 1;  ///< factor for all work on cores that makes the replay as fast as the trace
  double measured = 0;   ///< steps a second of the consumer that waits longest, as traced
  /// The rate of a replay with the cost of tracing, divided by the measured rate of the same steps: 1 if the model
  /// reproduces the trace.
  double fit = 0;
  double replayed = 0;    ///< steps a second of that replay
  std::size_t steps = 0;  ///< steps that it covered if it was cut off; all other replays cover the same
  Replay now;             ///< the replay without the cost of tracing
  /// Steps a second that the busiest device has time for, including pauses between its kernels; infinite if the trace
  /// does not show when it computes. It limits replays: no input makes a device faster.
  double most_of_device = std::numeric_limits<double>::infinity();
  /// The same without pauses: no rate is higher.
  double most_of_kernels = std::numeric_limits<double>::infinity();
  ReplayLimits limits;  ///< of that replay

  const CycleSample& sample() const { return host->cycles; }
  bool exists() const { return now.steps_per_s > 0; }
  /// True if it reproduces the trace well enough to be relied upon. Source: the stages of 72 pipelines made free one by
  /// one: the median error is 7 % with a fit within 0.1 of 1, and 23 % with others.
  bool is_reliable() const { return exists() && fit >= 0.9 && fit <= 1.1; }
  /// True if it reproduces the trace well enough to predict the gain of a fix, with a range that widens as the fit
  /// worsens. Source: of 31 pairs of recordings before and after a fix, whose fits are all between these limits, 27
  /// rates are in their range.
  bool tells_gains() const { return exists() && fit >= 0.75 && fit <= 1.35; }
};

/// The factor by which the pipeline is faster when nobody records it; at least 1. Above kDistortion the trace shows
/// another pipeline than the one that runs without the profiler.
double tracing_slowdown(const PipelineModel& model);
inline constexpr double kDistortion = 1.25;  ///< chosen: rates of one program differ by less from run to run

/// The model of a host, calibrated to reproduce the measured rate. It does not exist if the trace has too little for
/// one; see record_cycles().
PipelineModel model_of(const HostMeasurement& host, const ReplayLimits& limits = {});

/// An upper bound on the speedup of the pipelines after a change that only reduces the work of some stages, estimated
/// without a replay. It assumes that all of that work lies on the path that everything waits for (Amdahl's law), with a
/// margin. Of 3,696 replays of 204 recorded traces, in which the work of one stage was removed, halved or vectorized, 6
/// were faster (2026-11): all of one pipeline whose model is not reliable, and by less than 1 %. Infinity for any other
/// change.
double most_speedup(const PipelineModel& model, const Edit& edit);

/// Replays the pipelines after a change.
Replay replay_after(const PipelineModel& model, const Edit& edit, const ReplayLimits& limits = {});

/// The amount of a stage's work, whoever waits for it.
struct StageLoad {
  StageIndex stage = kNoStage;
  double busy = 0;  ///< threads that it keeps at work on average
};

/// All stages that do work of their own, the busiest first.
std::vector<StageLoad> stage_loads(const PipelineModel& model);

/// The gain of a stage if its work took no time.
struct StageGain {
  StageIndex stage = kNoStage;
  double steps_per_s = 0;
  double busy = 0;  ///< threads that it keeps busy on average

  double gain(const PipelineModel& model) const { return steps_per_s / model.now.steps_per_s - 1; }
};

/// The stages with most work, the one that limits the throughput first. Gains that cannot be distinguished are ordered
/// by the work of each worker of a stage. Stages are left out if their most_speedup() gains less than can be
/// distinguished from another stage of their pipeline.
std::vector<StageGain> rank_stages(const PipelineModel& model, std::size_t most, const ReplayLimits& limits = {});

}  // namespace doctor
