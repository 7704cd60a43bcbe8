#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// What the trace shows of one pipeline from its making to its end: all instances below one outermost instance.
struct PipelineLife {
  std::optional<PipelineMaking> making;  ///< where the window shows it
  std::uint64_t root_calls = 0;          ///< calls of the outermost iterator
  Interval roots{};                      ///< from the first start of these to the last
  Interval all{};                        ///< likewise of all its iterators
  std::vector<std::string_view> names;   ///< long names with the indices of like elements dropped; sorted, each once
  /// Node of the dataset graph that tells the datasets of a program apart, "BatchDatasetV2:4": of the outermost
  /// iterator that has one; empty if the trace has none.
  std::string_view dataset;
};

/// Which pipeline a life belongs to, and how many came before it.
struct Iteration {
  std::size_t pipeline = 0;  ///< index of its first life
  std::uint32_t number = 0;

  friend bool operator==(const Iteration&, const Iteration&) = default;
};

/// Finds the lives that are one pipeline iterated anew, as `for x in dataset` and the validation of Keras do in every
/// epoch, and `next(iter(dataset))` in every step: of the same transformations, each made when the consumer had asked
/// the one before for its last element. Replicas of a distribution strategy have the same transformations too, but are
/// made before any of them is asked; where the window shows no making, both must have two calls of their roots or more,
/// and no call in common time. Training and validation whose transformations are the same are told apart by the nodes
/// of their datasets, if these come again; a program that builds its dataset anew for each epoch has new nodes each
/// time.
///
/// The result is indexed as `lives`.
std::vector<Iteration> find_recreated_pipelines(std::span<const PipelineLife> lives);

}  // namespace doctor
