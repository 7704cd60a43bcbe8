#pragma once

#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// A stage of a loader that is written in Python, as its frames show it. Times are own ones: without the stages that it
/// takes its elements from.
struct LoaderStage {
  static constexpr std::size_t kNone = SIZE_MAX;  ///< no stage

  std::string name;              ///< "map", "source"
  std::size_t consumer = kNone;  ///< index of the stage that takes its elements, less than its own
  bool hands_over = false;       ///< it takes what threads or processes make
  std::uint64_t calls = 0;       ///< of its frames
  Picoseconds in_next = 0;       ///< its work in the loop's next()
  Picoseconds in_makers = 0;     ///< its work in what makes elements ahead of it
  Picoseconds blocked = 0;       ///< of both, in calls that only wait: a sleep, a read
  Picoseconds waited = 0;        ///< besides, for what others make
  Picoseconds for_lock = 0;      ///< besides, in makers, for Python's lock
  std::string function;          ///< the user's function that takes most of its time, "parse at train.py:10"
  Picoseconds in_functions = 0;  ///< of both, in functions of the user

  Picoseconds time() const { return in_next + in_makers; }
};

/// The stage that the most time goes to, where the loop waits.
struct SlowestStage {
  std::size_t stage = 0;     ///< index
  bool is_in_next = false;   ///< next() itself does that work, else what makes elements ahead of it
  double share = 0;          ///< of the work there
  double share_of_next = 0;  ///< that of the second
};

/// The stages that `frames` show, consumers before what they take from; empty if they show none. Names are those of
/// Grain 0.2 and of torch.utils.data 2.
std::vector<LoaderStage> loader_stages(const Trace& trace);

/// nullopt: no frame shows who works.
std::optional<SlowestStage> slowest_stage(const std::vector<LoaderStage>& stages);

/// "parse at train.py:10" of "$train.py:10 parse".
std::string describe_frame(std::string_view name);

/// The stage in which worker processes are waited for.
inline constexpr std::string_view kWorkerProcesses = "worker processes";

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
