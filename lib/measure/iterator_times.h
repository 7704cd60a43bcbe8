#pragma once

#include <map>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// Calls that read equally many inputs, and how long they took together.
struct CallsAlike {
  std::uint64_t count = 0;
  Picoseconds duration = 0;
};

/// The calls of one iterator added up, nested ones and background ones alike.
struct IteratorTimes {
  std::uint64_t calls = 0;
  Picoseconds total = 0;
  Picoseconds own = 0;  ///< of that: in no nested iterator call
  Sighting longest_call;
  bool is_shuffle = false;
  /// Of a shuffle: the calls by the number of inputs that each read. It has millions of calls, but few numbers.
  std::map<std::uint64_t, CallsAlike> by_inputs;

  void add(const IteratorTimes& other);
};

/// Whether the iterator's own time on the calling thread is spent waiting for other threads.
bool waits_for_others(const IteratorMeasurement& iterator);

/// One pass over all iterator calls of the trace; indexed by IteratorId.
std::vector<IteratorTimes> add_up_calls(const Trace& trace, const IteratorForest& forest, const WorkOptions& work = {});

/// Names, links, attributes and times of every logical iterator, indexed by IteratorId.
/// `times` and `is_device_hop` are indexed likewise.
std::vector<IteratorMeasurement> measure_iterators(const Trace& trace, const IteratorForest& forest,
                                                   const std::vector<IteratorTimes>& times,
                                                   const std::vector<bool>& is_device_hop);

/// Shuffle and cache fills among `members`; see measure/README.md, "Warm-up and fills".
std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorTimes>& times,
                                             const std::vector<IteratorId>& members);
std::vector<CacheFill> find_cache_fills(const IteratorForest& forest, const std::vector<IteratorId>& members);

}  // namespace doctor
