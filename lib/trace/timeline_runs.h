#pragma once

#include <vector>

#include "trace/timeline_events.h"

namespace doctor {

/// The session runs that TF1 timelines show: the steps of such a job. A run begins where the first of its partitions
/// does, and the next one where a partition that it has begins again. It ends with the last event that starts in it, at
/// the latest where the next run begins: what passes until then was not traced. Numbered from 0; empty if the timelines
/// show no start of a partition.
std::vector<StepMarker> session_runs_of(const TimelineEvents& events);

/// Moves times, and the origin, so that the first event is at 0 and that they fit a PackedSpan. A job that lasts for
/// days writes a timeline now and then; where all together would last longer than a PackedSpan can hold, every pause
/// between them is cut to a second. No measurement looks at these pauses. What does not fit even so is left out and
/// counted.
void fit_times(TimelineEvents& events);

}  // namespace doctor
