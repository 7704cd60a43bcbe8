#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "measure/cycles/cycles.h"
#include "measure/measurements.h"

namespace doctor {

// The work of a sample's stages, beyond single items.

/// Microseconds of work in the sample, indexed by StageIndex.
std::vector<double> work_of_stages(const CycleSample& sample);

/// For those of these stages that have work of their own, the median of its pieces, in us.
std::map<StageIndex, double> usual_work(const CycleSample& sample, const std::set<StageIndex>& stages);

/// The index of the item that ends the call which begins at the item `enter`.
std::uint32_t end_of_call(const CycleSample& sample, std::uint32_t enter);

/// The items with which a call takes elements that other threads make, for itself and for its inputs.
std::vector<std::uint32_t> pulls_in(const CycleSample& sample, std::uint32_t enter);

/// The number of elements that stages throw away at a time, for stages that skip elements which other threads make.
/// They do so in one call without an element, and then take another one. The number follows from the elements that were
/// made and never taken.
std::map<StageIndex, std::uint32_t> skipped_elements(const HostMeasurement& host, const CycleSample& sample);

}  // namespace doctor
