#pragma once

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// The confidence in the level and the culprit of a pipeline that was judged with these thresholds of the verdict.
/// Calibrated on labelled traces of TF 1.15 to 2.21 that were cut short: a wrong answer must not reach 0.7.
Confidence confidence_of(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                         const ThresholdValues& thresholds);

/// Why the confidence of a judgement is not higher: its smallest part. `thresholds`: those of the verdict.
Doubt weakest_part(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                   const ThresholdValues& thresholds);

/// Whether the longest call, which alone decides nothing, tips the scales: without it the other calls leave open on
/// which side of the limit the share is, with it the job is more likely input-bound than not.
bool is_tipped_by_one_call(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds);

/// The probability that a quantity with this estimate, standard error and number of observations is above `limit`:
/// Student's t with observations - 1 degrees of freedom.
double probability_above(double estimate, double error, std::size_t observations, double limit);

}  // namespace doctor
