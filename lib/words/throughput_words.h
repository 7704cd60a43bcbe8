#pragma once

#include "diagnose/finding.h"
#include "measure/measurements.h"
#include "model/prediction.h"

namespace doctor {

// What a model says, in words.

/// "0.53", "9.5", "16", "7,458".
std::string format_steps_per_s(double rate);

/// A factor by which something gets faster: "1.04x", "1.9x", "35x".
std::string format_factor(double factor);

/// What limits the throughput, for a person: "the one thread of Dataset.map", "your model".
std::string describe_bottleneck(const HostMeasurement& host, const Bottleneck& bottleneck);

/// A resource as a word of whatif's schema.
std::string_view to_word(Resource resource);

/// A condition as a word of the schema; empty if there is none.
std::string_view to_word(Condition condition);

/// What a word of the schema means, for a person: "if the function can work on batches". Empty for an unknown one.
std::string_view describe_condition(std::string_view word);

/// "12 -> 23 steps/s, 1.9x (1.6x to 2.0x)", with the condition if there is one.
std::string describe_gain(const Gain& gain);

/// describe_gain() in parts, of which the second is what counts.
struct GainWords {
  std::string before;  ///< "60 -> "
  std::string after;   ///< "90 steps/s"
  std::string rest;    ///< ", 1.5x (1.2x to 1.7x)"
};

/// What a change brings on top of `rate_before` steps a second. The interval is told only of a change alone.
GainWords words_of(const Gain& gain, double rate_before);

/// Why it is not known what a change brings, as a clause; empty where nobody waits.
std::string_view describe(NoGainBecause because);

}  // namespace doctor
