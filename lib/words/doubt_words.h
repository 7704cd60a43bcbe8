#pragma once

#include "diagnose/doubt.h"
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

// Why a verdict may be wrong, and what to do about it. They hold foreign text.

/// A clause: "only 16 batches were recorded: a stall every 20 steps would not show"; empty for std::monostate.
std::string describe_doubt(const Doubt& doubt, const Measurements& measurements);

/// What to do about a doubt.
struct Remedy {
  std::string sentence;  ///< "Record 50 or more"; empty: there is nothing to do
  std::string command;   ///< that does it; may be empty
};
Remedy remedy_of(const Doubt& doubt, const Measurements& measurements);

/// The sentence that the waits are those of a first epoch: "Dataset.cache is still being filled (it read its input in
/// 158 of 158 calls): what stands before it costs nothing from the second epoch on".
std::string describe_filling_cache(const HostMeasurement& host, const CacheFill& fill);

/// What to do where a cache is being filled.
Remedy remedy_of_filling_cache(const Measurements& measurements);

}  // namespace doctor
