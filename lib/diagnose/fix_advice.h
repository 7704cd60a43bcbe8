#pragma once

#include <optional>

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

/// A fix that the model knows as advice, for one that no rule words better: a sentence and a line of Python. nullopt
/// where the user has no line to change, as inside of make_csv_dataset().
std::optional<Advice> advice_for(const HostMeasurement& host, const Fix& fix);

}  // namespace doctor
