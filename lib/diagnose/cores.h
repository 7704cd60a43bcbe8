#pragma once

#include "measure/measurements.h"

namespace doctor {

/// Cores that are in use while the calls of a pipeline follow one another, as parts of the CPU budget, 0..1.
struct CoresInUse {
  double all = 0;       ///< by whatever it is
  double of_input = 0;  ///< by tf.data
};

/// nullopt where the load of the input was not measured (InputLoad) or the budget is unknown.
std::optional<CoresInUse> cores_in_use(const PipelineMeasurement& pipeline);

/// What a trace that does not say the cores shows of them: "at least 8 threads seen". Empty for none.
std::string threads_seen(std::uint64_t compute_threads);

/// Why a question about the cores has no answer, as a clause: before TF 2.5 no trace says how many there are.
std::string why_cores_are_unknown(const HostMeasurement& host);

}  // namespace doctor
