#include "diagnose/recording.h"

#include <fmt/format.h>

#include <algorithm>

namespace doctor {

std::string recording_code(const Measurements& measurements, std::size_t steps) {
  for (const HostMeasurement& host : measurements.hosts) {
    if (!host.script) continue;
    const std::uint64_t first = host.script->first_step;
    return fmt::format("python -m tfdata_doctor --batches {}-{} {}", first, first + steps - 1, host.script->name);
  }
  return fmt::format(
      "iterator = iter(dataset)\n"
      "tf.profiler.experimental.start(logdir)\n"
      "for step in range({}):\n"
      "  with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n"
      "    train_step(next(iterator))  # next() inside of the marker\n"
      "tf.profiler.experimental.stop()",
      steps);
}

std::size_t steps_to_record(const Measurements& measurements) {
  constexpr std::size_t kTimes = 3;
  std::size_t most = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const PipelineMeasurement& pipeline : host.pipelines) {
      if (!pipeline.feeds_another) most = std::max(most, pipeline.calls.size());
    }
  }
  return std::max(kStepsToRecord, kTimes * most);
}

}  // namespace doctor
