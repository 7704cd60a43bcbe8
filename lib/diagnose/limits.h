#pragma once

#include <optional>
#include <string>

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// Cores that are in use while the calls of a pipeline follow one another, as parts of the CPU budget, 0..1.
struct CoresInUse {
  double all = 0;       ///< by whatever it is
  double of_input = 0;  ///< by tf.data
};

/// nullopt where the load of the input was not measured (InputLoad) or the budget is unknown.
std::optional<CoresInUse> cores_in_use(const PipelineMeasurement& pipeline);

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
