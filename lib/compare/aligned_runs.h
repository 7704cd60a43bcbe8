#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// One iterator through all recordings of both sides.
struct AlignedIterator {
  std::vector<std::size_t> in_base;       ///< indexed by recording: index into its iterators; kNoIndex: not there
  std::vector<std::size_t> in_candidate;  ///< likewise
  const IteratorSummary* base = nullptr;  ///< in the side's usual recording; null: not there
  const IteratorSummary* candidate = nullptr;
  std::size_t base_index = kNoIndex;  ///< of these two, in their recording
  std::size_t candidate_index = kNoIndex;

  std::size_t base_root = kNoIndex;  ///< what the consumer calls, above these two
  std::size_t candidate_root = kNoIndex;

  bool is_new() const { return base == nullptr; }
  bool is_gone() const { return candidate == nullptr; }
};

/// The iterators of all recordings, paired. Refers to the summaries.
struct AlignedRuns {
  std::span<const RunSummary> base_runs;
  std::span<const RunSummary> candidate_runs;
  /// The recording of each side that has the shape of most, which represents its structure. Null without recordings.
  const RunSummary* base = nullptr;
  const RunSummary* candidate = nullptr;
  /// Elements of the source that one call takes, as batch sizes at and below an iterator have it; indexed by the
  /// iterators of `base` and `candidate`.
  std::vector<double> base_elements;
  std::vector<double> candidate_elements;
  std::size_t other_shapes = 0;            ///< recordings whose iterators nest differently from most of their side
  std::vector<AlignedIterator> iterators;  ///< those of the base in their order, then what is new

  /// Whether both sides show iterators at all: a TF1 timeline, or a trace of too low a level, shows none.
  bool show_iterators() const {
    return base != nullptr && candidate != nullptr && !base->iterators.empty() && !candidate->iterators.empty();
  }
};

AlignedRuns align_runs(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

}  // namespace doctor
