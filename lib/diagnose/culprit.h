#pragma once

#include <optional>

#include "diagnose/judgement.h"

namespace doctor {

// Where the critical path of the calls ends at the wrong iterator. It follows each wait to the work that goes on at
// that moment, and two kinds of work hide from it. Source: traces of TF 2.15 and 2.21 whose culprit was found by making
// one stage after the other free.

/// A stage that never rests.
struct SaturatedStage {
  IteratorId iterator = kNoIterator;
  double busy = 0;             ///< part of the time that its thread is at work, 0..1
  double busy_of_culprit = 0;  ///< the same of the thread of the iterator that the waits end at
};

/// The consumer asks when an element is half made, so its waits end at the last stages of the pipeline. But where the
/// thread of a sequential stage below is at work nearly all the time, and that of the last stage is not, nothing above
/// it can be faster. A parallel stage whose calls wait while nothing of its function runs waits for its input thread,
/// if that works for half of the time. Empty where the trace shows no such stage, or where several threads share its
/// work.
std::optional<SaturatedStage> find_saturated_stage(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// Where all cores are in use, the calls of a parallel stage wait for a core and not for their own work. Then the
/// iterator of the pipeline whose work kept the cores busy meanwhile holds them up. kNoIterator where no op of another
/// iterator ran for half of that time.
IteratorId find_user_of_cores(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase);

}  // namespace doctor
