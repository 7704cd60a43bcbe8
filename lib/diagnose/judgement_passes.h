#pragma once

#include <cstddef>

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

class Throughput;

// The passes of judge() over a pipeline, in the order in which it calls them. Each fills its part of the judgement and
// rests on the parts before it. Thresholds are those of the verdict.

/// Sets the level and the share that it rests on. All calls count, but one call alone decides nothing; calls that are
/// as long again and again are more than one.
void judge_level(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds, PipelineJudgement& judgement);

/// Where the steps of the whole run were clocked, and waited for another share of their time than the recorded ones,
/// the level follows the whole run: a window of a few steps may live on stored elements, or hold the only stall.
void follow_whole_run(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                      const ThresholdValues& thresholds, PipelineJudgement& judgement);

/// Sets the cost of the input, the rates of a slow pipeline and what recording costs. Where the cores of this host
/// compute, an input that nobody waits for may take them, or Python's lock, from the training: then the level becomes
/// `bound`. Returns whether a model says more about a job that waits.
bool judge_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, const ThresholdValues& thresholds,
                 Throughput& throughput, PipelineJudgement& judged);

/// Sets the culprit of a pipeline that has its level, and the evidence that chose it. The critical path of the calls
/// follows each wait to the work that goes on at that moment, and two kinds of work hide from it: that of a thread
/// which sets the pace while calls wait for what it hands on, and that of a stage which takes the cores. Source: traces
/// of TF 2.15 and 2.21 whose culprit was found by making one stage after the other free. `throughput`: a model of the
/// pipeline, which decides where there is one; null: none.
void choose_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline, const ThresholdValues& thresholds,
                    Throughput* throughput, PipelineJudgement& judgement);

/// What limits a slow pipeline: one answer, which every document repeats. Where a model reproduces the measured rate it
/// decides; elsewhere the ops of the culprit's function, the busy cores and what kind of dataset it is. Never more than
/// a trace can show: computing in Python, its lock, sleeping and waiting for I/O look alike there. `judgement` has its
/// culprit already.
JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement, const ThresholdValues& thresholds);

/// The confidence in the level and the culprit of a pipeline that was judged with these thresholds of the verdict.
/// Calibrated on labelled traces of TF 1.15 to 2.21 that were cut short: a wrong answer must not reach 0.7.
Confidence confidence_of(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                         const ThresholdValues& thresholds);

/// Why the confidence of a judgement is not higher: its smallest part. `thresholds`: those of the verdict.
Doubt weakest_part(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                   const ThresholdValues& thresholds);

/// Takes a verdict back that the input keeps up where the window may hide that it does not: most of its elements were
/// in a prefetch before it, or other steps took longer than the recorded ones.
void doubt_what_window_hides(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                             const ThresholdValues& thresholds, PipelineJudgement& judgement);

/// A wait costs nothing while a device works, so where that is not known, no job is input-bound for sure: the
/// confidence is held below what counts as sure, and the doubt says why.
void doubt_unread_devices(const Measurements& measurements, Judgement& judgement);

// What the passes share about the share of the time that is waited.

/// The level of a share of the time, 0..1, by `min_share` and `min_mild_share`.
InputLevel level_of_share(double share, const ThresholdValues& thresholds);

/// The probability that more calls would lead to the same level, 0..1. A single slow call may be an outlier, so the
/// share must be on one side with it and without it, unless the other calls leave the side open.
double confidence_in_side(const PipelineMeasurement& pipeline, bool is_bound, const ThresholdValues& thresholds);

/// Whether one call puts the share on the other side of the limit, or the calls differ too much to decide the side.
Doubt doubt_about_share(const PipelineMeasurement& pipeline, double min_share);

/// The error of a share, 0..1, that drifts from window to window by more than its calls show.
double with_drift(double error);

/// The probability that a quantity with this estimate, standard error and number of observations is above `limit`:
/// Student's t with observations - 1 degrees of freedom.
double probability_above(double estimate, double error, std::size_t observations, double limit);

}  // namespace doctor
