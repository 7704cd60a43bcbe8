#pragma once

#include "diagnose/doubt.h"
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

/// Which evidence chose the culprit. What is said of it is of the same kind: only where the waits end at it are shares
/// of the wait its own.
enum class ChosenBy {
  waits,   ///< it holds more of the waits than any other
  cores,   ///< its ops use the cores that the stage waits for which the waits end at
  thread,  ///< it is below that stage, and its thread never rests: it sets the pace
  model,   ///< the throughput gains more without its work than without that of any other stage
};

/// The resource of which more would make a job faster that waits for its input.
enum class Limit {
  unknown,
  source,       ///< the one thread that reads a source
  thread,       ///< one thread, or the few of an interleave, do all the work of a stage
  calls,        ///< a stage may not work on more elements at once
  pool,         ///< the threads that run functions
  cores,        ///< all cores are in use
  python_lock,  ///< one thread at a time runs Python
  outside,      ///< files, the network or another process, which the stage waits for
};

/// Why a trace does not show what limits a slow pipeline.
enum class NoLimitBecause {
  nobody_waits,
  source_waits_or_unpacks,  ///< cores are idle, and reading looks like waiting for storage
  python,                   ///< computing in it, its lock, sleeping and waiting for I/O look alike
  unknown_cores,            ///< the trace does not say how many cores tf.data may use
  unseen_copies,            ///< `stage` copies on threads that leave no events
  cores_half_used,          ///< the cores are neither idle nor used up
};

/// What limits a slow pipeline.
struct JudgedLimit {
  Limit limit = Limit::unknown;
  IteratorId stage = kNoIterator;  ///< whose thread or calls these are; with `cores`: which uses them most
  std::int64_t count = 0;          ///< of threads, calls or cores; 0: the trace does not say
  bool has_idle_cores = false;     ///< cores are idle meanwhile
  double file_share = 0;           ///< with `outside`: of the culprit's function in files; 0: what sends the elements
  double python_share = 0;         ///< with `python` below: of the culprit's function
  NoLimitBecause unknown_because = NoLimitBecause::nobody_waits;  ///< only with `unknown`
};

/// The evidence that chose another culprit than the iterator that the waits end at, as ChosenBy says.
struct CulpritEvidence {
  IteratorId waits_end_at = kNoIterator;
  double of_culprit = 0;  ///< `thread`: of the time its thread works; `model`: the job's speedup without its work
  double of_other = 0;    ///< the same of `waits_end_at`
  Picoseconds waits_for_cores = 0;  ///< `cores`: how long the calls of `waits_end_at` wait for one
};

/// How sure a judgement on a pipeline is, in parts that are multiplied. Each is a probability-like number, 0..1, that
/// falls with one kind of missing evidence.
struct Confidence {
  double side = 0;      ///< that more calls would lead to the same level, given how the calls of this trace differ
  double calls = 0;     ///< that so few calls represent the job
  double coverage = 1;  ///< that what the window hides is not the culprit; 1 where nobody waits
  double culprit = 1;   ///< that the culprit is the right one: its lead, and both halves of the trace naming it
  double load = 1;      ///< where nobody waits: that the input takes no cores and no Python lock from the training

  /// that the pipeline is the same where nobody records it: a profiler that takes much of each step shows another one
  double tracing = 1;
  double machine = 1;  ///< where somebody waits: that the job would wait for the same on a machine of its own
  double run = 1;      ///< that the recorded steps are like the others of the run, where these were clocked
  double window = 1;   ///< where nobody waits: that stalls which come seldom would have shown in so many calls
  double device = 1;   ///< where somebody waits: that no device, whose work the trace does not show, works meanwhile

  /// The confidence in the level alone, whoever the culprit is and whatever the input costs besides waits.
  double in_level() const { return side * calls * coverage; }
  double total() const { return in_level() * culprit * load * window * tracing * machine * run * device; }
};

/// What the input takes from a training on the same cores, whether it waits or not.
struct InputCost {
  enum class Takes { nothing, cores, python_lock };
  Takes takes = Takes::nothing;
  double speedup_without_input = 0;  ///< of the training; 0 where it was not asked for

  /// The part of the time that the training would save, 0..1: what thresholds on shares of the time are held against.
  double share_saved() const { return speedup_without_input > 1 ? 1 - 1 / speedup_without_input : 0; }
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
  /// The share of the waits of the phase that the culprit itself holds, 0..1; 0 for `background`.
  double culprit_share = 0;
  ChosenBy chosen_by = ChosenBy::waits;
  CulpritEvidence evidence;        ///< only where `chosen_by` is not `waits`
  bool has_rival = false;          ///< whether a stage below the culprit is as busy as it
  InputCost cost;                  ///< for which the level is `bound` although the share is not
  IteratorId rival = kNoIterator;  ///< a stage that gains as much as the culprit if its work takes no time
  /// Where the waits of a model end that reproduces the measured rate; nullopt where there is none.
  std::optional<Bottleneck> bottleneck;
  /// The rate of a slow pipeline: without the cost of tracing by a model that tells gains, else as recorded. 0: not
  /// known.
  double steps_per_s = 0;
  double steps_per_s_without_input = 0;  ///< if every element were ready; only of a report, or where a device computes
  bool has_recorded_rates = false;       ///< no model tells gains: the rates are those of the recorded steps
  bool has_clocked_rate = false;         ///< of these the first is that of the steps before, by the clock
  /// The share of the time, 0..1, that the job loses to its input by that model, where a device computes. It is more
  /// than the waits, because a device that waits now and then leaves its host less to do meanwhile.
  std::optional<double> lost_share;
  /// How many times as fast the pipeline is where nobody records it: by the model, or, where that is more, by the
  /// steps that were clocked before the recording; 1 where neither tells.
  double slowdown_by_tracing = 1;
  /// All steps of the loop, where they were clocked: the level and the share follow them where the recorded ones
  /// differ.
  std::optional<WholeRun> whole_run;
  bool follows_whole_run = false;
  /// The share of the time, 0..1, by which the consumer's own steps are longer than the shortest quarter of them, ops
  /// on this host left out. Where the input works at the same time, they may wait for its cores.
  double late_share = 0;
  JudgedLimit limit;
  Confidence confidence;  ///< in level and culprit together
  Doubt doubt;            ///< why the confidence is not higher

  bool is_slow() const { return level == InputLevel::bound || level == InputLevel::mild; }
};

/// Whether other evidence than the waits chose the culprit: then a share of the waits says nothing about it.
inline bool sets_pace(const PipelineJudgement& judgement) {
  return judgement.chosen_by != ChosenBy::waits;
}

/// The judgement on a whole run.
struct Judgement {
  VerdictStatus status = VerdictStatus::inconclusive;
  double confidence = 0;                     ///< 0..1, of the worst pipeline
  std::vector<PipelineJudgement> pipelines;  ///< worst first; those that only feed another pipeline come last
};

struct CulpritFunction;

/// A judged pipeline with the measurements that it refers to.
struct PipelineView {
  const HostMeasurement& host;
  const PipelineMeasurement& pipeline;
  const PipelineJudgement& judgement;

  bool is_bound() const { return judgement.level == InputLevel::bound; }
  bool is_slow() const { return judgement.is_slow(); }

  bool has_culprit() const { return judgement.culprit != kNoIterator; }
  /// Only if has_culprit().
  const IteratorMeasurement& culprit() const { return (*this)[judgement.culprit]; }
  const IteratorMeasurement& operator[](IteratorId iterator) const { return host.iterators[iterator]; }

  /// The calls that the judgement rests on (steady for the phases `steady` and `background`).
  const PhaseMeasurement& phase() const { return judgement.phase == Phase::warmup ? pipeline.warmup : pipeline.steady; }
  /// What the culprit's function does; empty where it has none, or there is no culprit.
  CulpritFunction function() const;
  /// Time that the judged calls waited for the culprit.
  Picoseconds culprit_time() const { return phase().critical[judgement.culprit]; }
};

inline PipelineView view_of(const Measurements& measurements, const PipelineJudgement& judged) {
  const HostMeasurement& host = measurements.hosts[judged.host];
  return {host, host.pipelines[judged.pipeline], judged};
}

/// All pipelines, worst first.
std::vector<PipelineView> pipelines_of(const Measurements& measurements, const Judgement& judgement);

}  // namespace doctor
