#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// One iterator in all recordings of both sides.
struct AlignedIterator {
  /// indexed by recording: index into its iterators; kNoIndex if it is not there
  std::vector<std::size_t> in_base;
  std::vector<std::size_t> in_candidate;  ///< likewise
  const IteratorSummary* base = nullptr;  ///< in the side's representative recording; null if it is not there
  const IteratorSummary* candidate = nullptr;
  std::size_t base_index = kNoIndex;  ///< index of `base` and of `candidate` in their recording
  std::size_t candidate_index = kNoIndex;

  std::size_t base_root = kNoIndex;  ///< index of the root above `base` and `candidate`
  std::size_t candidate_root = kNoIndex;

  bool is_new() const { return base == nullptr; }
  bool is_gone() const { return candidate == nullptr; }
};

/// The iterators of all recordings, paired. It refers to the summaries.
struct AlignedRuns {
  std::span<const RunSummary> base_runs;
  std::span<const RunSummary> candidate_runs;
  /// The recording of each side with the most common shape, which represents the side's structure. Null without
  /// recordings.
  const RunSummary* base = nullptr;
  const RunSummary* candidate = nullptr;
  /// Elements of the source that one call takes, from the batch sizes at and below an iterator. Indexed by the
  /// iterators of `base` and `candidate`.
  std::vector<double> base_elements;
  std::vector<double> candidate_elements;
  /// number of recordings whose iterators nest differently from most of their side
  std::size_t other_shapes = 0;
  std::vector<AlignedIterator> iterators;  ///< those of the base in their order, then new ones

  /// True if both sides show iterators at all: a TF1 timeline, or a trace of too low a level, shows none.
  bool show_iterators() const {
    return base != nullptr && candidate != nullptr && !base->iterators.empty() && !candidate->iterators.empty();
  }
};

AlignedRuns align_runs(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

}  // namespace doctor
