#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// What the trace shows of one pipeline from its creation to its end: all instances below one outermost instance.
struct PipelineLife {
  std::optional<PipelineMaking> making;  ///< set if the window shows it
  std::uint64_t root_calls = 0;          ///< calls of the outermost iterator
  Interval roots{};                      ///< from their first start to their last
  Interval all{};                        ///< likewise of all its iterators
  std::vector<std::string_view> names;   ///< long names with the indices of like elements dropped; sorted, each once
  /// The node of the dataset graph that distinguishes the datasets of a program, "BatchDatasetV2:4". It is that of the
  /// outermost iterator that has one; empty if the trace has none.
  std::string_view dataset;
};

/// The pipeline that a life belongs to, and the number of lives before it.
struct Iteration {
  std::size_t pipeline = 0;  ///< index of its first life
  std::uint32_t number = 0;

  friend bool operator==(const Iteration&, const Iteration&) = default;
};

/// Finds the lives that are one pipeline iterated anew. `for x in dataset` and the validation of Keras make one in
/// every epoch, and `next(iter(dataset))` in every step.
///
/// Such lives have the same transformations, and each is made after the consumer asked the one before for its last
/// element. Replicas of a distribution strategy have the same transformations too, but are all made before any is
/// asked. If the window shows no creation, both must have two calls of their roots or more, and no call at a common
/// time. Training and validation with the same transformations are told apart by the nodes of their datasets, if these
/// recur; a program that builds its dataset anew for each epoch has new nodes each time.
///
/// The result is indexed as `lives`.
std::vector<Iteration> find_recreated_pipelines(std::span<const PipelineLife> lives);

}  // namespace doctor
