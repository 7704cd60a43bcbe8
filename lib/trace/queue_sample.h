#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace doctor {

/// Pairs the event that puts a closure into the queue of a thread pool with the event that starts it on a thread. Both
/// carry an id, and come in any order, because threads follow one another in a file.
///
/// Memory is bounded: when more than a fixed number of closures are held, paired or not, every second one is dropped by
/// a hash of its id, and so on. The same calls in the same order keep the same closures.
class QueueSampler {
 public:
  /// The largest number of closures held. Few of them wait for most of the time: with a quarter of this number the
  /// waiting time was off by 28 %.
  static constexpr std::size_t kCapacity = 32'768;

  /// Ids other than 0 are opaque. If an id comes again before its other half, the later event counts.
  void queued(std::uint64_t id, Picoseconds start);
  /// A closure that starts before it was queued is dropped: its id was reused.
  void started(std::uint64_t id, Picoseconds start, LaneId lane);

  /// Hands over the pairs. The sampler is empty afterwards.
  QueueSample finish();

 private:
  /// One of the two events, while the other has not come.
  struct Half {
    std::uint64_t id = 0;  ///< 0: the place is free
    Picoseconds start = 0;
    LaneId lane{};
    bool is_started = false;
  };

  bool is_sampled(std::uint64_t id) const;
  void take(const Half& half);
  void thin_out();

  std::size_t home_of(std::uint64_t id) const;
  std::size_t place_of(std::uint64_t id) const;
  void free_place(std::size_t place);
  void rebuild(std::size_t size);

  unsigned halvings_ = 0;  ///< one of 2^halvings_ closures is kept
  /// A hash table with open addressing, at most three quarters full. The number of its places is a power of two, or 0.
  std::vector<Half> halves_;
  std::size_t half_count_ = 0;
  /// The pairs, and beside them their ids. Neither moves when it grows, and what is handed over is not copied: a pair is
  /// written once.
  std::vector<QueuedClosure> closures_;
  std::vector<std::uint64_t> ids_;
};

}  // namespace doctor
