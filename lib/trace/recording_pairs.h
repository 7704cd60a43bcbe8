#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/work.h"
#include "io/trace_folder.h"

namespace doctor {

/// Two files of one process: TensorFlow's profiler recorded its input pipeline, and JAX's everything else at the same
/// time. Each has the events of its own library alone, on a clock of its own.
struct RecordingPair {
  std::size_t input = 0;      ///< index of the file that shows tf.data
  std::size_t other = 0;      ///< index of the other one
  std::int64_t shift_ns = 0;  ///< what its times must be moved by to be those of the first one
};

/// Finds them among the files of a run. What they have in common sets their clocks against each other: markers of the
/// same steps, else the GetNext calls of one file in the frames of next() of the other; when they began does not (it is
/// off by up to hundreds of milliseconds). Files that have neither in common are not of one process. Of many files only
/// those are asked whose names are of one host ("vm.xplane.pb", "vm.jax.xplane.pb").
std::vector<RecordingPair> find_recording_pairs(std::span<const std::string> files, const WorkOptions& work);

/// Finds pairs for one file after another; those of a folder are looked for once.
class PairsBeside {
 public:
  /// The file and the other one of its pair, where that lies beside it: that with tf.data first. Else the file alone.
  std::vector<std::string> find(const std::string& file, const WorkOptions& work);

 private:
  LargeFolder large_;
  std::vector<std::string> beside_;  ///< those asked about last
  std::vector<RecordingPair> pairs_;
};

}  // namespace doctor
