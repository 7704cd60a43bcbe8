#pragma once

#include <vector>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "trace/annotations.h"

namespace doctor {

// `convert --annotate`: the diagnosis as tracks beside the recorded events.

/// What must be measured for annotations_of().
TimelineRequest annotation_request();

/// The tracks of each host with calls of a consumer: when the job waits and runs, its steps, the calls of each
/// pipeline, stalls, findings, and for each stage when a call waits for it. Bounded; what was left out is in the names
/// of tracks.
std::vector<AnnotationGroup> annotations_of(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
