#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

#include "compare/comparison_parts.h"
#include "compare/structure_changes.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// A size that differs by less is that of a small component beside the large ones.
constexpr double kLeastDifference = 0.01;

/// What all recordings of a side say of an iterator's elements; nothing where one does not, or says something else.
std::optional<std::uint64_t> bytes_of(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices) {
  std::optional<std::uint64_t> bytes;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) return std::nullopt;
    const std::optional<std::uint64_t> known = runs[recording].iterators[indices[recording]].element_bytes;
    if (!known || *known == 0 || (bytes && *bytes != *known)) return std::nullopt;
    bytes = known;
  }
  return bytes;
}

class SizeFinder {
 public:
  SizeFinder(const AlignedRuns& runs, const ThresholdValues& thresholds) : runs_(runs), thresholds_(thresholds) {
    for (const AlignedIterator& iterator : runs.iterators) {
      if (iterator.is_new()) explain_above(*runs.candidate, iterator.candidate_index, above_change_in_candidate_);
      if (iterator.is_gone()) explain_above(*runs.base, iterator.base_index, above_change_in_base_);
    }
  }

  /// Inputs come after what reads them, so from the last to the first: what changed below explains what is above.
  std::vector<StructureChange> find() {
    for (auto iterator = runs_.iterators.rbegin(); iterator != runs_.iterators.rend(); ++iterator) {
      if (!iterator->is_new() && !iterator->is_gone()) look_at(*iterator);
    }
    return std::move(changes_);
  }

 private:
  static void explain_above(const RunSummary& run, std::size_t iterator, std::set<std::size_t>& explained) {
    for (std::size_t above = run.iterators[iterator].parent; above != kNoIndex; above = run.iterators[above].parent) {
      explained.insert(above);
    }
  }

  void look_at(const AlignedIterator& iterator) {
    if (above_change_in_base_.contains(iterator.base_index)) return;
    if (above_change_in_candidate_.contains(iterator.candidate_index)) return;
    if (!has_like_calls(runs_, iterator) || !has_like_steps(runs_, iterator, iterator)) return;
    const std::optional<std::uint64_t> before = bytes_of(runs_.base_runs, iterator.in_base);
    const std::optional<std::uint64_t> after = bytes_of(runs_.candidate_runs, iterator.in_candidate);
    if (!before || !after) return;
    const double ratio = static_cast<double>(*after) / static_cast<double>(*before);
    if (std::abs(ratio - 1) < kLeastDifference) return;
    explain_above(*runs_.base, iterator.base_index, above_change_in_base_);
    const bool is_worse = ratio >= thresholds_["bytes_min_ratio"];
    changes_.push_back({ChangeKind::element_bytes_changed, iterator.base->long_name, iterator.base->words,
                        fmt::format("elements of {}: {} -> {} ({:.3g}x)", iterator.base->words, format_bytes(*before),
                                    format_bytes(*after), ratio),
                        /*is_certain=*/true, is_worse});
  }

  const AlignedRuns& runs_;
  const ThresholdValues& thresholds_;
  std::set<std::size_t> above_change_in_base_;  ///< whose input is not what it was
  std::set<std::size_t> above_change_in_candidate_;
  std::vector<StructureChange> changes_;
};

}  // namespace

std::vector<StructureChange> find_size_changes(const AlignedRuns& runs, const ThresholdValues& thresholds) {
  return runs.show_iterators() ? SizeFinder(runs, thresholds).find() : std::vector<StructureChange>{};
}

}  // namespace doctor
