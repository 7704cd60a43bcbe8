#include "diagnose/cores.h"

#include <fmt/format.h>

#include "text/numbers.h"

namespace doctor {

std::optional<CoresInUse> cores_in_use(const PipelineMeasurement& pipeline) {
  if (!pipeline.input_load || !pipeline.cpu_budget || *pipeline.cpu_budget <= 0) return std::nullopt;
  const auto cores = static_cast<double>(*pipeline.cpu_budget);
  return CoresInUse{std::min(1.0, pipeline.input_load->busy_threads / cores),
                    std::min(1.0, pipeline.input_load->cores() / cores)};
}

std::string threads_seen(std::uint64_t compute_threads) {
  return compute_threads == 0 ? "" : fmt::format("at least {} seen", format_count(compute_threads, "thread"));
}

std::string why_cores_are_unknown(const HostMeasurement& host) {
  const std::string seen = threads_seen(host.compute_threads);
  return "the trace does not say how many cores tf.data may use" + (seen.empty() ? "" : " (" + seen + ")");
}

}  // namespace doctor
