#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "measure/cycles.h"
#include "measure/measurements.h"

namespace doctor {

// What a sample says of the work of its stages, beyond single items.

/// Indexed by StageIndex: us of work in the sample.
std::vector<double> work_of_stages(const CycleSample& sample);

/// Of these stages that have own work the median of its pieces, in us.
std::map<StageIndex, double> usual_work(const CycleSample& sample, const std::set<StageIndex>& stages);

/// The index of the item with which the call that begins at the item `enter` ends.
std::uint32_t end_of_call(const CycleSample& sample, std::uint32_t enter);

/// The items with which a call takes elements that other threads make, for itself and for its inputs.
std::vector<std::uint32_t> pulls_in(const CycleSample& sample, std::uint32_t enter);

/// By the stages that skip elements which other threads make: how many they throw away at a time. They do so with one
/// call, whose element is none, and then take another one. The elements that were made and never taken say how many.
std::map<StageIndex, std::uint32_t> skipped_elements(const HostMeasurement& host, const CycleSample& sample);

}  // namespace doctor
