#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/programs.h"

namespace doctor {

/// What the throughput is limited by.
enum class Resource : std::uint8_t {
  consumer,  ///< what happens between the calls of GetNext
  thread,    ///< one thread, or the few that an interleave has, do all of a stage's work
  calls,     ///< a stage may not work on more elements at once
  pool,      ///< all threads that run functions are in use
  cores,     ///< all cores are
  python,    ///< functions wait for Python's lock
};

/// Where the waits of a replay end.
struct Bottleneck {
  Resource resource = Resource::consumer;
  StageIndex stage = kNoStage;  ///< that works there; of a consumer none
  std::int64_t count = 1;       ///< of the threads, or cores, that are the limit
};

/// What a replay of a pipeline shows.
struct Replay {
  double steps_per_s = 0;   ///< of the first consumer, without the first steps; 0 if it did not get far enough
  double cores_in_use = 0;  ///< on average
  double pool_in_use = 0;   ///< threads of the pool, on average
  std::size_t events = 0;   ///< how much work it was
  double input_share = 0;   ///< of the first consumer's time: in GetNext
  /// The rate is that of the first consumer's steps from `first_step` to `end_step`; after the last one of the sample
  /// it begins again.
  std::size_t first_step = 0;
  std::size_t end_step = 0;
  bool is_cut_off = false;  ///< by its limits
  Bottleneck limited_by;
  bool is_pool_used_up = false;  ///< a function waited for a thread of the pool
  /// The stages whose buffers always had room, and for how many elements: larger ones would have changed nothing.
  std::vector<std::pair<StageIndex, std::int64_t>> never_full;
};

/// How far a replay goes. One that is cut off counts as far as it went.
struct ReplayLimits {
  std::size_t events = 400'000;  ///< at most, once it went through the sample twice
  /// At most, until then: few steps of a pipeline with many elements in each are not its steady state.
  std::size_t events_for_sample = 400'000;
  /// If not 0, so many steps are replayed, for a few times as many events if need be: the rates of two replays can be
  /// compared only if they are of the same steps.
  std::size_t steps = 0;

  friend bool operator==(const ReplayLimits&, const ReplayLimits&) = default;
};

/// Lets the threads run against each other in simulated time: cores are shared equally among all that need one, the
/// pool has so many threads, buffers are bounded, elements leave a buffer in order unless it is unordered. Each thread
/// repeats its cycles. Deterministic: what is due at the same time runs in the order in which it was planned.
Replay replay(const Programs& programs, const ReplayLimits& limits = {});

}  // namespace doctor
