#pragma once

#include <string>
#include <string_view>

#include "diagnose/finding.h"
#include "measure/measurements.h"
#include "model/prediction.h"

namespace doctor {

// What a model says, in words.

/// Why there is no model of a trace that has more events than one takes.
inline constexpr const char* kTooManyEvents =
    "the trace has too many events for a model of the pipeline; record fewer steps: --batches 11-14";

/// "0.53", "9.5", "16", "7,458".
std::string format_steps_per_s(double rate);

/// A factor by which something gets faster: "1.04", "1.9", "35".
std::string format_factor(double factor);

/// What limits the throughput, for a person: "the one thread of Dataset.map", "your model".
std::string describe_bottleneck(const HostMeasurement& host, const Bottleneck& bottleneck);

/// A resource as a word of whatif's schema.
std::string_view to_word(Resource resource);

/// A condition as a word of the schema; empty if there is none.
std::string_view to_word(Condition condition);

/// What a word of the schema means, for a person: "if the function can work on batches". Empty for an unknown one.
std::string_view describe_condition(std::string_view word);

/// "x1.9 (1.6 to 2.0): 12 -> 23 steps/s, then your model limits", with the condition if there is one.
std::string describe_gain(const Gain& gain);

/// The same without what limits afterwards.
std::string describe_gain_alone(const Gain& gain);

}  // namespace doctor
