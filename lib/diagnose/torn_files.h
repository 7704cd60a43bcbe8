#pragma once

#include <optional>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"
#include "trace/torn.h"

namespace doctor {

/// The first torn file of the run; nullopt if no file is torn.
std::optional<doubts::TornFile> torn_file(const Measurements& measurements);

/// Makes the level of pipelines of a torn file unknown where they do not wait: what they wait for may be in the part
/// that is missing. A wait that was seen stands; for what, is less sure. Returns the most confidence, 0..1, with which
/// the run can be called healthy: a pipeline that holds it up may be in a file that is torn.
double doubt_torn_files(const Measurements& measurements, Judgement& judgement);

}  // namespace doctor
