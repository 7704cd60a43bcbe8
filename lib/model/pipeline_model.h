#pragma once

#include <limits>
#include <vector>

#include "measure/measurements.h"
#include "model/edit.h"
#include "model/replay.h"

namespace doctor {

/// A model of one host's pipelines: it replays their cycles. Refers to the measurement.
struct PipelineModel {
  const HostMeasurement* host = nullptr;
  SampleFacts facts;     ///< of its cycles
  Programs unchanged;    ///< of these, without the cost of tracing
  double cpu_scale = 1;  ///< times all work on cores, so that the replay is as fast as the trace
  double measured = 0;   ///< steps a second of the consumer that waits longest, as traced
  /// Of a replay with the cost of tracing, over what was measured of the same steps: 1 where the model reproduces the
  /// trace.
  double fit = 0;
  double replayed = 0;    ///< steps a second of that replay
  std::size_t steps = 0;  ///< that it went through, if it was cut off: those of all others
  Replay now;             ///< without the cost of tracing
  /// Steps a second that the busiest device has time for, pauses between its kernels included; infinite where the trace
  /// does not show when it computes. Replays are limited by it: no input makes a device faster.
  double most_of_device = std::numeric_limits<double>::infinity();
  /// The same if it never paused: no rate is higher.
  double most_of_kernels = std::numeric_limits<double>::infinity();
  ReplayLimits limits;  ///< of that replay

  const CycleSample& sample() const { return host->cycles; }
  bool exists() const { return now.steps_per_s > 0; }
  /// Whether it reproduces the trace well enough to be relied upon. Source: the stages of 72 pipelines made free one by
  /// one: the median error is 7 % with a fit within 0.1 of 1, and 23 % with others.
  bool is_reliable() const { return exists() && fit >= 0.9 && fit <= 1.1; }
  /// Whether it reproduces the trace well enough for the gain of a fix, in a range that is wider the less it does.
  /// Source: of 31 pairs of recordings before and after a fix, whose fits are all between these, 27 rates are in their
  /// range.
  bool tells_gains() const { return exists() && fit >= 0.75 && fit <= 1.35; }
};

/// How many times as fast the pipeline is where nobody records it; at least 1. Above kDistortion the trace shows
/// another pipeline than the one that runs without the profiler.
double tracing_slowdown(const PipelineModel& model);
inline constexpr double kDistortion = 1.25;

/// The model of a host, calibrated so that it reproduces the rate that was measured. Does not exist where the trace has
/// too little for one; see record_cycles().
PipelineModel model_of(const HostMeasurement& host, const ReplayLimits& limits = {});

/// An estimate without a replay of how many times as fast the pipelines become at most after a change that lessens the
/// work of some stages and does nothing else: as if all of that work stood on the path that everything waits for
/// (Amdahl's law), with a margin. Of 3,696 replays of 204 recorded traces, in which the work of one stage was taken
/// away, halved or vectorized, 6 were faster (2026-11): all of one pipeline whose model is not reliable, and by less
/// than 1 %. Infinity for any other change.
double most_speedup(const PipelineModel& model, const Edit& edit);

/// Replays the pipelines after a change.
Replay replay_after(const PipelineModel& model, const Edit& edit, const ReplayLimits& limits = {});

/// How much a stage works, whoever waits for it.
struct StageLoad {
  StageIndex stage = kNoStage;
  double busy = 0;  ///< threads that it keeps at work on average
};

/// All stages that do work of their own, the busiest first.
std::vector<StageLoad> stage_loads(const PipelineModel& model);

/// What a stage would gain if its work took no time.
struct StageGain {
  StageIndex stage = kNoStage;
  double steps_per_s = 0;
  double busy = 0;  ///< threads that it keeps busy on average

  double gain(const PipelineModel& model) const { return steps_per_s / model.now.steps_per_s - 1; }
};

/// The stages with most work, the one that limits the throughput first: gains that cannot be distinguished are in the
/// order of the work that each worker of a stage does. Left out: stages that by most_speedup() gain less than what can
/// be distinguished from another one of their pipeline.
std::vector<StageGain> rank_stages(const PipelineModel& model, std::size_t most, const ReplayLimits& limits = {});

}  // namespace doctor
