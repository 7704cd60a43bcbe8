#pragma once

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// What limits a slow pipeline: one answer, which every document repeats. Where a model reproduces the measured rate it
/// decides; elsewhere the ops of the culprit's function, the busy cores and what kind of dataset it is. Never more than
/// a trace can show: computing in Python, its lock, sleeping and waiting for I/O look alike there. `judgement` has its
/// culprit already.
JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement, const ThresholdValues& thresholds);

}  // namespace doctor
