#pragma once

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "diagnose/throughput.h"
#include "measure/measurements.h"

namespace doctor {

/// The thresholds that decide between input_bound, mild and healthy. They are those of the rule that states the
/// verdict.
std::vector<Threshold> verdict_thresholds();

/// All that judge() asks for: these, and the thresholds that rules share with the verdict, by their common names.
std::vector<Threshold> judgement_thresholds();

/// Judges every pipeline and the run. Never `healthy` on missing evidence: without a call of the consumer, or where the
/// confidence in what weighs most is below `min_confidence`, the status is `inconclusive`; where nothing in a complete
/// trace is of tf.data, `no_input_pipeline`.
/// `throughputs`: of each host, or none, so that only the waits count.
Judgement judge(const Measurements& measurements, const ThresholdValues& thresholds, Throughputs& throughputs);
Judgement judge(const Measurements& measurements, const ThresholdValues& thresholds);

}  // namespace doctor
