#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "measure/measurements.h"

namespace doctor {

/// The time that a stage of the pipeline, or the training itself, needs for one step.
struct StageWork {
  IteratorId stage = kNoIterator;  ///< kNoIterator: the training
  /// Works of one worker are done one after another, by the thread that makes elements for one stage or by the thread
  /// of the training loop. Those of different workers are done at the same time.
  std::size_t worker = 0;
  double before = 0;         ///< us a step that the worker needs for its other works, which come before this one
  double time = 0;           ///< us a step: per element, times elements a step, over `at_once`
  std::int64_t at_once = 1;  ///< elements that it works on at the same time

  /// When the worker is done with it, in us from where its step begins.
  double end() const { return before + time; }
};

/// What a step takes and what it is made of: whoever works longest sets the pace.
struct StepWork {
  double step = 0;  ///< us from one call of the consumer to the next, the mean; 0: not known
  /// Inputs before the stages that take their elements, the training last. Empty where the step is not known.
  std::vector<StageWork> stages;
};

/// The work of the stages in the steady steps of a pipeline, by the clock: waits for a core and for a thread of the
/// pool are in it, waits for elements are not. An element's time is the mean of those that were made from beginning to
/// end in the recording, and a step has as many elements as the threads that take them do in whole elements of their
/// own. So it does not matter what was in buffers where the recording begins or ends.
StepWork work_of_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline);

}  // namespace doctor
