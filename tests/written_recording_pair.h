#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::recording_pair {

inline constexpr int kSteps = 40;
inline constexpr double kStepUs = 2000;
inline constexpr std::int64_t kApartNs = 179'000'000;  ///< of the two clocks

/// A loop of JAX over tf.data.
struct RecordedJob {
  double wait_us = 1000;  ///< of each step, in GetNext
  double beside_us = 10;  ///< in next(), before and after GetNext each
  double compute_us = 0;  ///< of XLA on the CPU for each step; it begins with the first dispatch
  bool has_markers = true;
  bool has_frames = false;
  double step_us = kStepUs;
  double jitter_us = 0;  ///< by which steps begin later, each by another part of it

  double start_of(int step) const { return 1000 + step * step_us + jitter_us * (step * 7 % 11) / 11; }
};

/// What TensorFlow's profiler records.
inline SyntheticTrace input_of(const RecordedJob& job) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    const double start = job.start_of(step);
    if (job.has_markers) trace.add("python", "train", start, job.step_us - 1).ids["step_num"] = 7 + step;
    const double call = start + job.beside_us;
    trace.add("python", "IteratorGetNextOp::DoCompute", call, job.wait_us);
    trace.iterator("python", "Iterator::Root", 1, 0, call + 1, job.wait_us - 2);
    trace.iterator("python", "Iterator::Root::Map", 2, 1, call + 2, job.wait_us - 4);
  }
  return trace;
}

/// What JAX's profiler records.
inline SyntheticTrace rest_of(const RecordedJob& job) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    const double start = job.start_of(step);
    if (job.has_markers) trace.add("main", "train", start + 1, job.step_us - 1).ids["step_num"] = 7 + step;
    if (job.has_frames) {
      trace.add("main", "$dataset_ops.py:4775 __next__", start, job.wait_us + 2 * job.beside_us);
      trace.add("main", "$iterator_ops.py:824 __next__", start + 1, job.wait_us + 2 * job.beside_us - 2);
    }
    trace.add("main", "PjitFunction(step)", start + job.wait_us + 2 * job.beside_us + 1, 50);
    if (job.compute_us > 0) {
      trace.add("tf_XLAPjRtCpuClient/1", "ThunkExecutor::Execute", 2100 + step * job.compute_us, job.compute_us - 1);
    }
  }
  return trace;
}

inline std::string apart(xspace::XSpace space) {
  for (xspace::XPlane& plane : *space.mutable_planes()) {
    for (xspace::XLine& line : *plane.mutable_lines()) line.set_timestamp_ns(line.timestamp_ns() - kApartNs);
  }
  return space.SerializeAsString();
}

/// Both in one folder, the clock of the second one moved.
struct Files {
  TemporaryDirectory directory;
  std::vector<std::string> paths;

  Files(const std::string& input, const std::string& rest) {
    paths = {directory.write("host.jax.xplane.pb", rest), directory.write("host.xplane.pb", input)};
  }
  explicit Files(const RecordedJob& job) : Files(input_of(job).to_xspace(), apart(rest_of(job).to_message())) {}
};

}  // namespace doctor::recording_pair
