#pragma once

#include <cmath>
#include <string>

#include "base/time.h"
#include "text/numbers.h"

namespace doctor {

/// "3.2 h", "1,234 h"; what is less than an hour in the unit that fits: "35.2 s".
inline std::string format_hours(double hours) {
  constexpr double kPicosecondsPerHour = 3.6e15;
  return std::abs(hours) < 1 ? format_time(static_cast<Picoseconds>(hours * kPicosecondsPerHour))
                             : format_number(hours) + " h";
}

}  // namespace doctor
