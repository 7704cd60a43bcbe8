#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "measure/cycles/cycles.h"

namespace doctor {

/// A sequential iterator that gets threads of its own.
struct Cut {
  enum class Kind {
    map,         ///< its own work runs `parallelism` times at once, fed by what is below
    prefetch,    ///< a thread makes its elements ahead, up to `parallelism` of them
    interleave,  ///< `parallelism` threads make its elements, with everything below
  };
  Kind kind = Kind::map;
  std::int64_t parallelism = 1;
  std::int64_t cycle_length = 1;  ///< for an interleave: datasets that are open at once

  friend bool operator==(const Cut&, const Cut&) = default;
};

/// A change of a sample's pipelines before they are replayed. An empty edit changes nothing.
struct Edit {
  std::set<StageIndex> free;       ///< stages whose work takes almost no time
  std::set<StageIndex> cached;     ///< stages whose elements are read from memory
  std::set<StageIndex> unordered;  ///< stages whose elements leave in any order
  std::map<StageIndex, Cut> cuts;
  std::map<StageIndex, std::int64_t> parallelism;  ///< new parallelism of asynchronous iterators
  std::map<StageIndex, std::int64_t> buffer;       ///< new buffer sizes of prefetches
  /// stages that run once for so many elements instead of once for each
  std::map<StageIndex, double> vectorized;
  std::map<StageIndex, double> work_factor;
  bool prefetch_at_end = false;
  bool iterates_once = false;          ///< the consumer makes no new iterator between its steps
  bool without_input = false;          ///< every element is ready
  bool functions_hold_python = false;  ///< one Python function runs at a time
  std::optional<std::int64_t> pool_threads;
  std::optional<std::int64_t> cores;
  double consumer_factor = 1;  ///< 2: the consumer is twice as fast

  bool changes_work() const { return !cached.empty() || !vectorized.empty() || !work_factor.empty(); }
  friend bool operator==(const Edit&, const Edit&) = default;
};

}  // namespace doctor
