#pragma once

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"
#include "measure/measurements.h"

namespace doctor {

/// What the function of the culprit does: always of the iterator that was chosen, whatever evidence chose it. Refers to
/// the measurement.
struct CulpritFunction {
  std::span<const FunctionOp> ops;  ///< longest first; wrapper ops left out
  Picoseconds time = 0;             ///< in the function, of which the ops are parts
  Picoseconds python = 0;           ///< of that: in Python ops
  /// Whether the times are those in which calls waited for the function. Else, because the waits end elsewhere or are
  /// not what the job loses, they are times of threads in the whole window.
  bool is_waited_for = false;

  Picoseconds time_of_ops() const { return time_of(ops); }
  /// The first three, as far as they explain its time.
  std::vector<FunctionOp> main_ops() const;
  /// The share of Python in the time of all its ops, 0..1; 0 without ops.
  double python_share() const;
};

/// The cores during the waits for an iterator.
struct CoresDuringWaits {
  std::optional<double> utilization;  ///< see cpu_utilization()
  bool are_used_up = false;
  /// They are without the threads in which the iterator's functions read or write files, too: then these take long
  /// because their threads wait for a core.
  bool are_used_up_beside_files = false;
  /// Of the ops of the phase's culprit, in those that read or write files.
  Picoseconds in_files = 0;
};

CoresDuringWaits cores_during_waits(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase,
                                    const IteratorMeasurement& iterator, const ThresholdValues& thresholds);

}  // namespace doctor
