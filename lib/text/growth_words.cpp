#include "text/growth_words.h"

#include <fmt/format.h>

#include "text/numbers.h"

namespace doctor {

std::string growth_words(const GrowthNumbers& numbers) {
  std::string words =
      fmt::format("{} a step from step {} to {}", format_bytes(static_cast<std::uint64_t>(numbers.bytes_per_step)),
                  format_count(numbers.first_step), format_count(numbers.last_step));
  if (!numbers.steps_left) return words;
  const auto left = static_cast<std::uint64_t>(*numbers.steps_left);
  return words + fmt::format(", and the {} left are used up in {} more, in step {}",
                             format_bytes(numbers.available_bytes), format_count(left),
                             format_count(numbers.last_step + left));
}

}  // namespace doctor
