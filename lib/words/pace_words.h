#pragma once

#include <string>

#include "measure/measurements.h"

namespace doctor {

// What the calls of a pipeline do over time, in a sentence. They hold foreign text. Calls are counted from 1.

/// "3 of 30 calls take 4.10 ms, the others 94 us: about every 10 calls, from call 4 to call 28, mostly in Dataset.map;
/// the median hides them"; empty if none stalls.
std::string describe_stalls(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// "From call 41 on GetNext takes 12.3 ms instead of 94 us (68 % of the time instead of 2 %), mostly in Dataset.map";
/// empty if the pace does not change.
std::string describe_pace_change(const HostMeasurement& host, const PipelineMeasurement& pipeline);

}  // namespace doctor
