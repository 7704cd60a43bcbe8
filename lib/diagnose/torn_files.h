#pragma once

#include <optional>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"
#include "trace/torn.h"

namespace doctor {

/// The first torn file of the run; nullopt if no file is torn.
std::optional<doubts::TornFile> torn_file(const Measurements& measurements);

/// The most that can be believed of what a torn file does not show: less than an even chance.
inline constexpr double kMostCoverageOfTorn = 0.45;

}  // namespace doctor
