#pragma once

#include <span>

#include "measure/measurements.h"

namespace doctor {

/// The number of first calls that are warm-up. There are up to three, each more than 5 times the median of the calls
/// after it and more than 1 ms. Fewer than three later calls may be half as long or longer: otherwise they are stalls
/// that recur. If there are two calls only, the first is warm-up if the pipeline starts inside the window.
std::size_t count_warmup_calls(std::span<const Picoseconds> latencies, bool pipeline_starts_in_window);

/// Fills latencies, shares and step shares of a pipeline whose `calls` and `warmup_count` are set. `markers` are the
/// steps of the job that the trace marks, sorted by start.
void measure_cadence(const Trace& trace, std::span<const StepMarker> markers, PipelineMeasurement& pipeline);

/// Fills the shares of the waits that no device hides, after measure_cadence(). `computing` is the time in which any
/// device computes, disjoint and sorted. Devices of one job work in step, so all of them idle while it waits for data.
void measure_exposed_waits(const Trace& trace, std::span<const StepMarker> markers, std::span<const Interval> computing,
                           PipelineMeasurement& pipeline);

}  // namespace doctor
