#pragma once

#include <vector>

#include "trace/timeline/timeline_events.h"

namespace doctor {

/// The session runs that TF1 timelines show, which are the steps of such a job. A run begins with the first of its
/// partitions; the next one begins when a partition of this run begins again. A run ends with the last event that
/// starts in it, at the latest where the next run begins: the time after that was not traced. Numbered from 0; empty if
/// the timelines show no start of a partition.
std::vector<StepMarker> session_runs_of(const TimelineEvents& events);

/// Moves times and the origin so that the first event is at 0 and all times fit a PackedSpan. A job that lasts for days
/// writes a timeline now and then. If the whole would exceed a PackedSpan, every pause between timelines is cut to a
/// second; no measurement uses these pauses. Events that do not fit even so are dropped and counted.
void fit_times(TimelineEvents& events);

}  // namespace doctor
