#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "base/time.h"

namespace doctor {

/// What telling recreated pipelines needs of one iterator instance.
struct PipelineMember {
  std::uint64_t pipeline = 0;  ///< id of the outermost iterator above it; 0 where the trace has no ids
  std::string_view name;       ///< long name with the indices of like elements dropped
  bool is_root = false;
  std::uint64_t event_count = 0;
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
};

/// Which pipeline an outermost iterator stands for, and for which time it is iterated.
struct Iteration {
  std::uint64_t pipeline = 0;
  std::uint32_t number = 0;
};

/// Finds pipelines that are one pipeline iterated anew, as `for x in dataset` and the validation of Keras do in every
/// epoch: the same long names, one after the other in time, each with two calls of its root or more. Replicas of a
/// distribution strategy have the same names too, but run at the same time, and stay apart. Pipelines that stand for
/// themselves are left out of the result.
std::map<std::uint64_t, Iteration> find_recreated_pipelines(std::span<const PipelineMember> members);

}  // namespace doctor
