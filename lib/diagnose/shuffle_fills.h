#pragma once

#include "measure/measurements.h"

namespace doctor {

/// How many times its buffer was filled in the window; 0 where the trace does not say how large it is.
inline double times_filled(const ShuffleFill& fill) {
  const double size = static_cast<double>(fill.buffer_size.value_or(0));
  return size > 0 ? static_cast<double>(fill.elements) / size : 0;
}

/// From here on it is not the begin of the training alone.
inline constexpr double kRefilled = 2;

}  // namespace doctor
