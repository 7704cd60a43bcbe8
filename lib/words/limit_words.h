#pragma once

#include <string>

#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

// What limits a slow pipeline, for a person. They hold foreign text.

/// What the limit is, or why the trace does not show it: "the one thread of Dataset.map", "the 2 cores"; empty where
/// nobody waits.
std::string describe_limit(const HostMeasurement& host, const JudgedLimit& limit);

/// How the stage `culprit` runs, where that is the limit: "one element at a time", "2 calls at a time"; empty where the
/// limit is another one.
std::string manner_of(const JudgedLimit& limit, IteratorId culprit);

/// The limit as a sentence, where it is none of the stage: "All 2 cores are busy"; else empty.
std::string sentence_about(const JudgedLimit& limit);

}  // namespace doctor
