#pragma once

#include <map>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// Calls that read the same number of inputs, and their total duration.
struct CallsAlike {
  std::uint64_t count = 0;
  Picoseconds duration = 0;
};

/// The calls of one iterator added up, both nested and background calls.
struct IteratorTimes {
  std::uint64_t calls = 0;
  Picoseconds total = 0;
  Picoseconds own = 0;  ///< the part of `total` outside of nested iterator calls
  Sighting longest_call;
  bool is_shuffle = false;
  /// For a shuffle, its calls by the number of inputs that each read. It has millions of calls, but few different
  /// numbers.
  std::map<std::uint64_t, CallsAlike> by_inputs;

  void add(const IteratorTimes& other);
};

/// Tests whether the iterator's own time on the calling thread is spent waiting for other threads.
bool waits_for_others(const IteratorMeasurement& iterator);

/// Adds up all calls in one pass over the trace; indexed by IteratorId.
std::vector<IteratorTimes> add_up_calls(const Trace& trace, const IteratorForest& forest, const WorkOptions& work = {});

/// Names, links, attributes and times of every logical iterator, indexed by IteratorId. `times` and `is_device_hop` are
/// indexed likewise.
IndexedBy<IteratorId, std::vector<IteratorMeasurement>> measure_iterators(const Trace& trace,
                                                                          const IteratorForest& forest,
                                                                          const std::vector<IteratorTimes>& times,
                                                                          const std::vector<bool>& is_device_hop);

/// Finds shuffle and cache fills among `members`; see measure/README.md, "Warm-up and fills".
std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorTimes>& times,
                                             const std::vector<IteratorId>& members);
std::vector<CacheFill> find_cache_fills(const IteratorForest& forest, const std::vector<IteratorId>& members);

}  // namespace doctor
