#pragma once

#include <span>

#include "base/work.h"
#include "io/trace_folder.h"

namespace doctor {

/// Two files of one process, recorded at the same time: one by TensorFlow's profiler, which shows the input pipeline,
/// and one by JAX's, which shows everything else. Each has the events of its own library alone, on a clock of its own.
struct RecordingPair {
  std::size_t input = 0;      ///< index of the file that shows tf.data
  std::size_t other = 0;      ///< index of the other one
  std::int64_t shift_ns = 0;  ///< shift that puts the times of the other file onto the clock of the first
};

/// Finds the pairs among the files of a run. Their clocks are aligned by what both show: markers of the same steps,
/// else the GetNext calls of one file within the frames of next() of the other. The times at which they began are no
/// help: they are off by up to hundreds of milliseconds. Files that have nothing in common are not of one process.
/// Among many files only those are compared whose names are of one host ("vm.xplane.pb", "vm.jax.xplane.pb").
std::vector<RecordingPair> find_recording_pairs(std::span<const std::string> files, const WorkOptions& work);

/// Finds pairs for one file after another. A folder is searched once.
class PairsBeside {
 public:
  /// The file and the other one of its pair, if that lies beside it: the one with tf.data first. Else the file alone.
  std::vector<std::string> find(const std::string& file, const WorkOptions& work);

 private:
  LargeFolder large_;
  std::vector<std::string> beside_;  ///< the files of the last folder
  std::vector<RecordingPair> pairs_;
};

}  // namespace doctor
