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

/// Longest chain of parents that is followed, and the deepest place in a tree: a trace may hold a cycle of parent ids,
/// or a chain of a hundred thousand. Real pipelines are less than a hundred deep.
inline constexpr std::size_t kLongestChain = 256;

/// Which instances of a trace belong together: their parents and pipelines. Indexed by InstanceId where nothing else is
/// said.
struct InstanceTree {
  std::vector<InstanceId> by_appearance;  ///< all instances, in time, not in the file
  /// Long names without the indices of like elements: most are as in the trace, which outlives the tree, the others in
  /// `changed_names`.
  std::vector<std::string_view> folded_names;
  std::deque<std::string> changed_names;   ///< in no order
  std::vector<InstanceId> parents;         ///< what calls it; kNoInstance for outermost ones
  std::vector<bool> is_loop_input;         ///< what a loop in a tf.function asks for: the input of its Scan
  std::vector<std::size_t> pipelines;      ///< a recreated one is its first; 0: all of a trace without ids
  std::vector<std::size_t> input_numbers;  ///< which input of its Zip it is; kNoInput for most
  /// How many times its pipeline was iterated before. Empty if none was.
  std::vector<std::uint32_t> iterations;
};

InstanceTree find_instance_tree(const Trace& trace);

}  // namespace doctor
