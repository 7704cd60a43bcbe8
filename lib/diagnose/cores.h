#pragma once

#include <fmt/format.h>

#include "measure/measurements.h"
#include "text/numbers.h"

namespace doctor {

/// Cores that are in use while the calls of a pipeline follow one another, as parts of the CPU budget, 0..1.
struct CoresInUse {
  double all = 0;       ///< by whatever it is
  double of_input = 0;  ///< by tf.data
};

/// nullopt where the load of the input was not measured (InputLoad) or the budget is unknown.
inline std::optional<CoresInUse> cores_in_use(const PipelineMeasurement& pipeline) {
  if (!pipeline.input_load || !pipeline.cpu_budget || *pipeline.cpu_budget <= 0) return std::nullopt;
  const auto cores = static_cast<double>(*pipeline.cpu_budget);
  return CoresInUse{std::min(1.0, pipeline.input_load->busy_threads / cores),
                    std::min(1.0, pipeline.input_load->cores() / cores)};
}

/// What a trace that does not say the cores shows of them: "at least 8 threads seen". Empty for none.
inline std::string threads_seen(std::uint64_t compute_threads) {
  return compute_threads == 0 ? "" : fmt::format("at least {} seen", format_count(compute_threads, "thread"));
}

/// Why a question about the cores has no answer, as a clause: before TF 2.5 no trace says how many there are.
inline std::string why_cores_are_unknown(const HostMeasurement& host) {
  const std::string seen = threads_seen(host.compute_threads);
  return "the trace does not say how many cores tf.data may use" + (seen.empty() ? "" : " (" + seen + ")");
}

}  // namespace doctor
