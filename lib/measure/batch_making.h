#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// How the batches of Keras' PyDataset (Sequence) are made, by Python's frames.
struct BatchMaking {
  bool has_queue = false;          ///< workers make them ahead, for a queue
  std::vector<Picoseconds> ready;  ///< when a batch of a worker was, sorted
  /// The user's function that takes the most time, "__getitem__ at train.py:16"; empty if no frame shows one: it runs
  /// in processes.
  std::string function;
  std::size_t workers = 0;  ///< threads that run it and take no batch themselves
  Picoseconds typical = 0;  ///< median length of its calls

  /// The number of batches that workers had ready in that time.
  std::uint64_t made_in(Interval span) const;
};

/// nullopt: no frame of Keras' loader was recorded.
std::optional<BatchMaking> measure_batch_making(const Trace& trace);

}  // namespace doctor
