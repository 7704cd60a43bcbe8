#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/programs.h"

namespace doctor {

/// The resource that limits the throughput.
enum class Resource : std::uint8_t {
  consumer,  ///< the consumer's work between the calls of GetNext
  thread,    ///< one thread, or the few of an interleave, do all of a stage's work
  calls,     ///< a stage may not work on more elements at once
  pool,      ///< all threads that run functions are in use
  cores,     ///< all cores are in use
  python,    ///< functions wait for Python's lock
};

/// The place where the waits of a replay end.
struct Bottleneck {
  Resource resource = Resource::consumer;
  StageIndex stage = kNoStage;  ///< the stage that works there; kNoStage for a consumer
  std::int64_t count = 1;       ///< number of the threads, or cores, that are the limit
};

/// The result of replaying a pipeline.
struct Replay {
  double steps_per_s = 0;   ///< of the first consumer, without the first steps; 0 if it did not get far enough
  double cores_in_use = 0;  ///< on average
  double pool_in_use = 0;   ///< threads of the pool in use, on average
  std::size_t events = 0;   ///< number of events replayed
  double input_share = 0;   ///< share of the first consumer's time in GetNext
  /// The rate is that of the first consumer's steps from `first_step` to `end_step`. After the last step of the sample
  /// the steps begin again.
  std::size_t first_step = 0;
  std::size_t end_step = 0;
  bool is_cut_off = false;  ///< by its limits
  Bottleneck limited_by;
  bool is_pool_used_up = false;  ///< a function waited for a thread of the pool
  /// The stages whose buffers always had room, with the number of elements that they had room for: larger buffers would
  /// have changed nothing.
  std::vector<std::pair<StageIndex, std::int64_t>> never_full;
};

/// The extent of a replay. One that is cut off is valid as far as it went.
struct ReplayLimits {
  std::size_t events = 400'000;  ///< the limit once it went through the sample twice
  /// The limit before that: few steps of a pipeline with many elements in each are not its steady state.
  std::size_t events_for_sample = 400'000;
  /// If not 0, exactly so many steps are replayed, with a few times as many events if necessary: the rates of two
  /// replays can be compared only over the same steps.
  std::size_t steps = 0;

  friend bool operator==(const ReplayLimits&, const ReplayLimits&) = default;
};

/// Runs the threads against each other in simulated time. Cores are shared equally among all threads that need one, the
/// pool has a fixed number of threads, buffers are bounded, and elements leave a buffer in order unless it is
/// unordered. Each thread repeats its cycles. Deterministic: events due at the same time run in the order in which they
/// were planned.
Replay replay(const Programs& programs, const ReplayLimits& limits = {});

}  // namespace doctor
