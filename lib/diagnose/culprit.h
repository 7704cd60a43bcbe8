#pragma once

#include <optional>

#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

// Where the critical path of the calls ends at the wrong iterator. It follows each wait to the work that goes on at
// that moment, and two kinds of work hide from it. Source: traces of TF 2.15 and 2.21 whose culprit was found by making
// one stage after the other free.

/// A sequential stage of a pipeline, which works on a thread of its own.
struct BusyStage {
  IteratorId iterator = kNoIterator;  ///< does most of the thread's work
  double busy = 0;                    ///< share of the time that its thread is at work, 0..1
  double busy_of_culprit = 0;         ///< the same of the thread of the iterator that the waits end at
};

/// The busiest of the stages below the iterator that the waits end at (PhaseMeasurement::culprit of the steady calls).
/// Stages whose work several threads share are left out.
std::optional<BusyStage> find_busiest_stage_below(const HostMeasurement& host, const PipelineMeasurement& pipeline);

/// Whether nothing above the stage can be faster. The consumer asks when an element is half made, so its waits end at
/// the last stages of the pipeline; but where the thread of a stage below is at work nearly all the time, and that of
/// the last stage is not, they all wait for that one. A parallel stage whose calls wait while nothing of its function
/// runs waits for its input thread, if that works for half of the time.
bool is_saturated(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                  const ThresholdValues& thresholds);

/// Whether the stage is as busy as the iterator that the waits end at, so that either may be the culprit.
bool rivals_culprit(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                    const ThresholdValues& thresholds);

/// Where all cores are in use, the calls of a parallel stage wait for a core and not for their own work. Then the
/// iterator of the pipeline whose work kept the cores busy meanwhile holds them up. kNoIterator where no op of another
/// iterator ran for half of that time.
IteratorId find_user_of_cores(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                              const PhaseMeasurement& phase, const ThresholdValues& thresholds);

}  // namespace doctor
