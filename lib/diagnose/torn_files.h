#pragma once

#include <optional>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"
#include "trace/torn.h"

namespace doctor {

/// The first torn file of the run; nullopt if no file is torn.
std::optional<doubts::TornFile> torn_file(const Measurements& measurements);

/// That a consumer does not wait rests on having seen all that it may wait for, so it is never known of a pipeline
/// whose file is torn: its level becomes unknown. That it waits was seen, and stands; for what is less sure.
void doubt_torn_pipelines(const Measurements& measurements, Judgement& judgement);

/// The same for the run: a pipeline that holds it up may be in the file that is torn, so `healthy` becomes
/// `inconclusive`.
void doubt_torn_run(const Measurements& measurements, Judgement& judgement);

}  // namespace doctor
