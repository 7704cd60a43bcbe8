#pragma once

#include "diagnose/cores.h"
#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "diagnose/throughput.h"
#include "measure/measurements.h"

namespace doctor {

/// What the passes of judge() over a pipeline look at.
struct PipelineEvidence {
  const HostMeasurement& host;
  const PipelineMeasurement& pipeline;
  const ThresholdValues& thresholds;  ///< of the verdict
  Throughput* throughput = nullptr;   ///< a model of the host's pipelines; null: none
  std::optional<CoresInUse> cores = cores_in_use(pipeline);
};

// The passes in the order in which judge() calls them. Each fills its part of the judgement and rests on the parts
// before it.

/// Sets the level, the share that it rests on, the confidence in its side, and why that is not higher. All calls count,
/// but one call alone decides nothing; calls that are as long again and again are more than one.
void judge_level(const PipelineEvidence& evidence, PipelineJudgement& judgement);

/// Where the steps of the whole run were clocked, and waited for another share of their time than the recorded ones,
/// the level follows the whole run: a window of a few steps may live on stored elements, or hold the only stall.
void follow_whole_run(const PipelineEvidence& evidence, PipelineJudgement& judgement);

/// Sets what recording cost, the cost of the input, the rates of a slow pipeline, and the bottleneck where a model
/// reproduces the rate. Where the cores of this host compute, an input that nobody waits for may take them, or Python's
/// lock, from the training: then the level becomes `bound`.
void judge_rates(const PipelineEvidence& evidence, PipelineJudgement& judged);

/// Sets the culprit of a pipeline that has its level, and the evidence that chose it. The critical path of the calls
/// follows each wait to the work that goes on at that moment, and two kinds of work hide from it: that of a thread
/// which sets the pace while calls wait for what it hands on, and that of a stage which takes the cores. Where there is
/// a bottleneck, the model decides. Source: traces of TF 2.15 and 2.21 whose culprit was found by making one stage
/// after the other free.
void choose_culprit(const PipelineEvidence& evidence, PipelineJudgement& judgement);

/// What limits a slow pipeline: one answer, which every document repeats. Where a model reproduces the measured rate it
/// decides; elsewhere the ops of the culprit's function, the busy cores and what kind of dataset it is. Never more than
/// a trace can show: computing in Python, its lock, sleeping and waiting for I/O look alike there. `judgement` has its
/// culprit already.
JudgedLimit limit_of(const PipelineEvidence& evidence, const PipelineJudgement& judgement);

/// The confidence in the level, of which the side is known already, and in the culprit. Calibrated on labelled traces
/// of TF 1.15 to 2.21 that were cut short: a wrong answer must not reach 0.7.
Confidence confidence_of(const PipelineEvidence& evidence, const PipelineJudgement& judgement);

/// Why the confidence of a judgement is not higher: its smallest part. Of its level the judgement has the doubt
/// already.
Doubt weakest_part(const PipelineEvidence& evidence, const PipelineJudgement& judgement);

/// Takes a verdict back that the input keeps up where the window may hide that it does not: most of its elements were
/// in a prefetch before it, or other steps took longer than the recorded ones.
void doubt_what_window_hides(const PipelineEvidence& evidence, PipelineJudgement& judgement);

/// A wait costs nothing while a device works, so where that is not known, no job is input-bound for sure: the
/// confidence is held below what counts as sure, and the doubt says why.
void doubt_unread_devices(const PipelineEvidence& evidence, PipelineJudgement& judgement);

/// Makes the level of a pipeline of a torn file unknown where it does not wait: what it waits for may be in the part
/// that is missing. A wait that was seen stands; for what, is less sure. Needs `judgement.host`.
void doubt_torn_file(const PipelineEvidence& evidence, PipelineJudgement& judgement);

// What the passes share.

/// Of the pipelines of a host the one whose elements are the steps: it is asked most often.
bool makes_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// The error of a share, 0..1, that drifts from window to window by more than its calls show.
double with_drift(double error);

/// The probability that a quantity with this estimate, standard error and number of observations is above `limit`:
/// Student's t with observations - 1 degrees of freedom.
double probability_above(double estimate, double error, std::size_t observations, double limit);

/// On a host whose own cores compute: what the input takes from the training beside the waits. `waited`: the share of
/// the time that the consumer waits, 0..1; an input costs cores only if most of what the training would gain without it
/// is not that. Needs a throughput.
InputCost find_input_cost(const PipelineEvidence& evidence, double waited);

}  // namespace doctor
