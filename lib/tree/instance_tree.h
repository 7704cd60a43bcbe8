#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace doctor {

inline constexpr std::size_t kNoInput = static_cast<std::size_t>(-1);

/// The longest chain of parents that is followed, and the greatest depth of a tree: a trace may hold a cycle of parent
/// ids, or a chain of a hundred thousand. Real pipelines are less than a hundred deep.
inline constexpr std::size_t kLongestChain = 256;

/// The parents and pipelines of a trace's instances. Indexed by InstanceId unless stated otherwise.
struct InstanceTree {
  std::vector<InstanceId> by_appearance;  ///< all instances in the order in which they appear in time, not in the file
  /// Long names without the indices of like elements. Most are as in the trace, which outlives the tree; the others are
  /// in `changed_names`.
  std::vector<std::string_view> folded_names;
  std::deque<std::string> changed_names;  ///< in no order
  std::vector<InstanceId> parents;        ///< the instance that calls it; kNoInstance for an outermost one
  /// the input of the Scan that a loop in a tf.function takes its elements from
  std::vector<bool> is_loop_input;
  /// number of its pipeline; a recreated pipeline has that of its first life. 0: all instances of a trace without ids
  std::vector<std::size_t> pipelines;
  std::vector<std::size_t> input_numbers;  ///< the number of the input of a Zip that it is; kNoInput for most
  /// The number of earlier iterations of its pipeline. Empty if no pipeline was iterated before.
  std::vector<std::uint32_t> iterations;
};

InstanceTree find_instance_tree(const Trace& trace);

}  // namespace doctor
