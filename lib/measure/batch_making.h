#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "measure/loader_stages.h"
#include "trace/trace.h"

namespace doctor {

/// Who makes what next() of a loader hands out.
enum class MadeBy : std::uint8_t {
  unknown,    ///< no frame shows it
  loop,       ///< next() itself, in the thread of the training loop
  threads,    ///< threads of the same process, ahead of it
  processes,  ///< other processes, of which the trace shows nothing
};

/// What a loader says of its own options; nullopt where the trace does not have them.
struct LoaderOptions {
  std::optional<std::int64_t> threads;    ///< num_threads of grain.ReadOptions
  std::optional<std::int64_t> buffer;     ///< prefetch_buffer_size of grain.ReadOptions, in elements
  std::optional<std::int64_t> processes;  ///< num_workers of grain.MultiprocessingOptions
};

/// How the batches of a loader written in Python are made, by Python's frames: of Keras' PyDataset (Sequence), Grain
/// and PyTorch's DataLoader.
struct BatchMaking {
  bool has_queue = false;          ///< workers make them ahead, for a queue or a buffer
  std::vector<Picoseconds> ready;  ///< when an element of a worker was, sorted
  /// The user's function that takes the most time, "__getitem__ at train.py:16"; empty if no frame shows one: it runs
  /// in processes.
  std::string function;
  std::size_t workers = 0;  ///< threads that run it and take no batch themselves
  Picoseconds typical = 0;  ///< median length of what makes a batch

  MadeBy made_by = MadeBy::unknown;
  bool is_of_keras = false;
  bool is_data_loader = false;  ///< of Grain: of grain.DataLoader, not of a Dataset
  LoaderOptions options;
  std::vector<LoaderStage> stages;      ///< of Grain and PyTorch; empty where no frame shows them
  std::optional<SlowestStage> slowest;  ///< of these
  double elements_per_batch = 1;        ///< that next() takes out of the buffer

  /// Null: no frame shows who works.
  const LoaderStage* slowest_stage() const { return slowest ? &stages[slowest->stage] : nullptr; }

  /// The number of batches that workers had ready in that time.
  std::uint64_t made_in(Interval span) const;
};

/// nullopt: nothing of such a loader was recorded, or nothing of how it makes batches.
std::optional<BatchMaking> measure_batch_making(const Trace& trace);

/// The part of that time in which threads of a loader run its Python, each moment once, without sleeps and reads.
Picoseconds time_in_makers(const Trace& trace, const BatchMaking& making, Interval span);

}  // namespace doctor
