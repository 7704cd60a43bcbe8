#pragma once

#include <string>

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// What holds the culprit back, with what that rests on.
struct JudgedLimit {
  Limit limit = Limit::unknown;
  std::string reason;  ///< a clause with its numbers, or why it is unknown; empty where nobody waits
};

/// From the ops of the culprit's function, the busy cores and what kind of dataset it is. Never more than a trace can
/// show: computing in Python, its lock, sleeping and waiting for I/O look alike there.
JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement, const ThresholdValues& thresholds);

}  // namespace doctor
