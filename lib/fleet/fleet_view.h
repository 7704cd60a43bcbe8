#pragma once

#include <cstddef>
#include <optional>

namespace doctor {

/// What of a fleet its reader wants to see.
struct FleetView {
  std::size_t top = 0;               ///< how many entries of each ranking; 0: all
  std::optional<double> price = {};  ///< of an hour, in any currency; none: nothing is said about money
};

}  // namespace doctor
