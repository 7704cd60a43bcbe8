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

  bool is_new() const { return base == nullptr; }
  bool is_gone() const { return candidate == nullptr; }
};

/// The iterators of all recordings, paired. Refers to the summaries.
struct AlignedRuns {
  std::span<const RunSummary> base_runs;
  std::span<const RunSummary> candidate_runs;
  /// The recording of each side that has the shape of most, which stands for its structure. Null without recordings.
  const RunSummary* base = nullptr;
  const RunSummary* candidate = nullptr;
  std::size_t other_shapes = 0;  ///< recordings whose iterators nest in another way than those of their side's
  std::vector<AlignedIterator> iterators;  ///< those of the base in their order, then what is new
};

AlignedRuns align_runs(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

}  // namespace doctor
