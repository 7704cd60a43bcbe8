#pragma once

#include <optional>
#include <string>

#include "diagnose/judgement.h"
#include "measure/measurements.h"

namespace doctor {

/// Busy threads during the waits, as a part of the CPU budget, from which cores count as used up, and up to which they
/// count as idle: a half, and a margin because busy threads are an estimate. Labelled traces of TF 2.4 to 2.21 measured
/// 0.95 to 1.00 where cores were the limit and 0.00 where they were idle, on two cores only.
inline constexpr double kCoresUsedUp = 0.80;
inline constexpr double kCoresIdle = 0.55;

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
  std::string reason;  ///< a clause with its numbers, or why it cannot be told; empty where nobody waits
};

/// From the ops of the culprit's function, the busy cores and what kind of dataset it is. Never more than a trace can
/// tell: computing in Python, its lock, sleeping and waiting for I/O look alike there.
JudgedLimit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                     const PipelineJudgement& judgement);

}  // namespace doctor
