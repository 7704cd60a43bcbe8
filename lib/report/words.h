#pragma once

#include <string>

#include "measure/measurements.h"

namespace doctor {

/// The iterator as the user wrote it: "Dataset.map".
std::string describe(const IteratorMeasurement& iterator);

}  // namespace doctor
