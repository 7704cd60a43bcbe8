#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace doctor {

/// How the memory of a process grows with its steps.
struct GrowthNumbers {
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  double bytes_per_step = 0;
  std::uint64_t available_bytes = 0;  ///< that the machine has left after the last step
  std::optional<double> steps_left;   ///< until these are used up
};

/// "1.11 MB a step from step 3 to 160, and the 20.7 GB left are used up in 18,667 more, in step 18,827".
std::string growth_words(const GrowthNumbers& numbers);

}  // namespace doctor
