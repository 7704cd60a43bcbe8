#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"

namespace doctor {

/// A tf.function whose Python code is traced to a graph again while the job goes through its steps.
struct RetracedFunction {
  std::string name;
  std::size_t times = 0;  ///< in steps, without its very first tracing, or in the window if that is not known
  Picoseconds time = 0;   ///< total time of these
  std::optional<std::int64_t> count;  ///< how often it was traced since the job began, at the end of the window
};

/// The functions with a name, most time first.
std::vector<RetracedFunction> find_retraced_functions(const HostMeasurement& host);

}  // namespace doctor
