#pragma once

#include <span>

#include "measure/measurements.h"

namespace doctor {

/// How many of the first calls are warm-up: up to three, each more than 5 times the median of those after it, more than
/// 1 ms, and with fewer than three later calls that are half as long or longer (those are stalls that come again). With
/// two calls only, the first is warm-up if the pipeline starts inside the window.
std::size_t count_warmup_calls(std::span<const Picoseconds> latencies, bool pipeline_starts_in_window);

/// Fills latencies, shares and step shares of a pipeline whose `calls` and `warmup_count` are set. `markers`: steps of
/// the job that the trace marks, sorted by start.
void measure_cadence(const Trace& trace, std::span<const StepMarker> markers, PipelineMeasurement& pipeline);

/// Fills the shares of the waits that no device hides, after measure_cadence(). `computing`: when any device computes,
/// disjoint and sorted; devices of one job work in step, so that all of them idle while it waits for data.
void measure_exposed_waits(const Trace& trace, std::span<const StepMarker> markers, std::span<const Interval> computing,
                           PipelineMeasurement& pipeline);

}  // namespace doctor
