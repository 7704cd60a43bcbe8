#pragma once

#include <optional>
#include <string_view>

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

// Code of advice that rules give, too.

inline constexpr std::string_view kIterateOnce = "iterator = iter(dataset.repeat())  # once, for all epochs";
inline constexpr std::string_view kInterleaveParts =
    "dataset = tf.data.Dataset.from_tensor_slices(parts).interleave(\n"
    "    dataset_of_part, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)";

/// Whether advice_for() has words for the fix: they take longer to find than to ask for.
bool has_advice_for(const HostMeasurement& host, const Fix& fix);

/// A fix that the model knows as advice, for one that no rule words better: a sentence and a line of Python. nullopt
/// where the user has no line to change, as inside of make_csv_dataset().
std::optional<Advice> advice_for(const HostMeasurement& host, const Fix& fix);

}  // namespace doctor
