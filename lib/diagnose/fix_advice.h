#pragma once

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

// Code of advice that rules give, too.

inline constexpr std::string_view kIterateOnce = "iterator = iter(dataset.repeat())  # once, for all epochs";

/// A dataset for each part of the data, several of them read at once; `cycle_argument` as of cycle_argument(), or
/// empty.
std::string code_to_interleave_parts(std::string_view cycle_argument);

/// Where rows of arrays in memory are shuffled and batched one by one, at the iterator or around it: to do so with
/// their indices. nullopt elsewhere.
std::optional<Advice> advice_for_rows(const HostMeasurement& host, IteratorId iterator);

/// Whether what the fix changes stands in Keras' code: the user handed a PyDataset or Sequence to fit.
bool has_no_dataset(const HostMeasurement& host, const Fix& fix);

/// Whether advice_for() has words for the fix: they take longer to find than to ask for.
bool has_advice_for(const HostMeasurement& host, const Fix& fix);

/// A fix that the model knows as advice, for one that no rule words better: a sentence and a line of Python. nullopt
/// where the user has no line to change, as inside of make_csv_dataset().
std::optional<Advice> advice_for(const HostMeasurement& host, const Fix& fix);

/// "cycle_length=4, ", where the fix says so: what interleave() is told before its calls.
std::string cycle_argument(const Fix& fix);

}  // namespace doctor
