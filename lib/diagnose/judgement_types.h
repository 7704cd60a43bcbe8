#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurements.h"
#include "model/replay.h"

namespace doctor {

enum class VerdictStatus { input_bound, healthy, no_input_pipeline, inconclusive };

/// How much a pipeline holds its consumer up.
enum class InputLevel {
  unknown,  ///< no call of the consumer was seen, or too little to be sure
  not_bound,
  mild,  ///< worth a note
  bound,
};

/// Which calls the culprit was judged by.
enum class Phase {
  steady,
  warmup,      ///< steady calls are fine, the first ones were slow and cost more than all others
  background,  ///< nobody waits: the busiest iterator, for information
};

/// What holds a slow pipeline back.
enum class Limit { cpu, concurrency, waiting, unknown };

/// How sure a judgement on a pipeline is, in parts that are multiplied. Each is a probability-like number, 0..1, that
/// falls with one kind of missing evidence.
struct Confidence {
  double side = 0;      ///< that more calls would lead to the same level, given how the calls of this trace differ
  double calls = 0;     ///< that so few calls represent the job
  double coverage = 1;  ///< that what the window hides is not the culprit; 1 where nobody waits
  double culprit = 1;   ///< that the culprit is the right one: its lead, and both halves of the trace naming it
  double load = 1;      ///< where nobody waits: that the input takes no cores and no Python lock from the training

  double window = 1;  ///< where nobody waits: that stalls which come seldom would have shown in so many calls

  /// In the level alone, as far as this window goes: whoever the culprit is, whatever the input costs besides waits.
  double in_level() const { return side * calls * coverage; }
  double total() const { return in_level() * culprit * load * window; }
};

/// What the input takes from a training on the same cores, whether it waits or not.
struct InputCost {
  enum class Takes { nothing, cores, python_lock };
  Takes takes = Takes::nothing;
  double speedup_without_input = 0;  ///< of the training; 0 where it was not asked for
};

/// The judgement on one pipeline. Refers to the measurements by index.
struct PipelineJudgement {
  std::size_t host = 0;      ///< index into Measurements::hosts
  std::size_t pipeline = 0;  ///< index into HostMeasurement::pipelines
  InputLevel level = InputLevel::unknown;
  /// The share of the time that the consumer waits on which the level rests: of all steady calls, or without the
  /// longest one where that one alone would decide the level.
  double input_share = 0;
  bool sets_call_aside = false;  ///< whether it is the latter
  Phase phase = Phase::steady;
  IteratorId culprit = kNoIterator;
  /// Of the time waited in the phase, for the culprit or for what waits for it (0 for background).
  double culprit_share = 0;
  std::string culprit_reason;      ///< why it is not the iterator that the waits end at, as a clause; else empty
  bool has_rival = false;          ///< whether a stage below the culprit is as busy as it
  InputCost cost;                  ///< for which the level is `bound` although the share is not
  IteratorId rival = kNoIterator;  ///< a stage that gains as much as the culprit if its work takes no time
  /// What limits the throughput, by a model that reproduces the measured rate; nullopt where there is none.
  std::optional<Bottleneck> bottleneck;
  double steps_per_s = 0;                ///< of that model: now, without the cost of tracing
  double steps_per_s_without_input = 0;  ///< and if every element were ready
  Limit limited_by = Limit::unknown;
  std::string limit_reason;  ///< what that rests on, or why it is unknown; a clause
  Confidence confidence;     ///< in level and culprit together
  std::string doubt;         ///< why the confidence is not higher, as a clause; empty if no call was seen
};

/// The judgement on a whole run.
struct Judgement {
  VerdictStatus status = VerdictStatus::inconclusive;
  double confidence = 0;                     ///< 0..1, of the worst pipeline
  std::vector<PipelineJudgement> pipelines;  ///< worst first; those that only feed another pipeline come last
};

/// The calls that the judgement on a pipeline rests on (steady for the phases `steady` and `background`).
inline const PhaseMeasurement& judged_phase(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement) {
  return judgement.phase == Phase::warmup ? pipeline.warmup : pipeline.steady;
}

}  // namespace doctor
