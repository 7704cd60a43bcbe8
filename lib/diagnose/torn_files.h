#pragma once

#include <optional>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"
#include "trace/torn.h"

namespace doctor {

/// The first torn file of the run; nullopt if no file is torn.
std::optional<doubts::TornFile> torn_file(const Measurements& measurements);

/// Makes the level of pipelines of a torn file unknown where they do not wait: what they wait for may be in the part
/// that is missing. A wait that was seen stands; for what, is less sure.
void doubt_torn_pipelines(const Measurements& measurements, Judgement& judgement);

/// Makes a `healthy` run `inconclusive`: a pipeline that holds it up may be in the file that is torn.
void doubt_torn_run(const Measurements& measurements, Judgement& judgement);

}  // namespace doctor
