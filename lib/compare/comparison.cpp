#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "compare/finding_changes.h"
#include "compare/function_changes.h"
#include "compare/pipeline_rows.h"
#include "compare/structure_changes.h"
#include "compare/time_rows.h"

namespace doctor {
namespace {

/// The recordings of a side that may be compared. One that is torn shows less than there was, so it would count as a
/// fast one.
std::vector<RunSummary> without_torn(std::span<const RunSummary> side) {
  std::vector<RunSummary> whole;
  std::copy_if(side.begin(), side.end(), std::back_inserter(whole), [](const RunSummary& run) { return !run.is_torn; });
  return whole;
}

void add_note_on_torn(std::string_view side, std::size_t torn, std::size_t all, RunComparison& comparison) {
  if (torn == 0) return;
  comparison.notes.push_back(fmt::format(
      "{} of {} {} recordings {} cut off or damaged and {} left out: what is missing may be what took the time; record "
      "or copy {} again",
      torn, all, side, torn == 1 ? "is" : "are", torn == 1 ? "was" : "were", torn == 1 ? "it" : "them"));
}

void add_notes(const AlignedRuns& runs, RunComparison& comparison) {
  std::size_t incomplete = 0;
  for (const std::span<const RunSummary> side : {runs.base_runs, runs.candidate_runs}) {
    for (const RunSummary& run : side) incomplete += run.is_complete ? 0U : 1U;
  }
  if (incomplete > 0) {
    comparison.notes.push_back(fmt::format("of {} recordings something was lost or could not be read", incomplete));
  }
  if (runs.other_shapes > 0) {
    comparison.notes.push_back(
        fmt::format("{} recordings show other iterators than most of their side; what only some show never gates",
                    runs.other_shapes));
  }
  if (runs.base != nullptr && runs.candidate != nullptr && !runs.show_iterators()) {
    comparison.notes.emplace_back("the recordings of one side show no iterators, so the pipelines cannot be compared");
  }
  const bool has_other_batches =
      std::any_of(runs.iterators.begin(), runs.iterators.end(), [&](const AlignedIterator& iterator) {
        return !iterator.is_new() && !iterator.is_gone() && !has_like_steps(runs, iterator, iterator);
      });
  if (has_other_batches) comparison.notes.emplace_back("a batch size changed, so a step is not the same piece of work");
}

/// The lines of the iterators that rows and changes are about.
class SourceFinder {
 public:
  explicit SourceFinder(const AlignedRuns& runs) {
    for (const AlignedIterator& iterator : runs.iterators) {
      const IteratorSummary& latest = iterator.is_gone() ? *iterator.base : *iterator.candidate;
      if (!latest.source) continue;
      const IteratorSummary& first = iterator.is_new() ? *iterator.candidate : *iterator.base;
      sources_[first.long_name] = *latest.source;
    }
    // What is new goes by its name in the candidate.
    for (const AlignedIterator& iterator : runs.iterators) {
      if (!iterator.is_gone() && iterator.candidate->source) {
        sources_.emplace(iterator.candidate->long_name, *iterator.candidate->source);
      }
    }
  }

  template <typename Item>
  void add_to(std::vector<Item>& items) const {
    for (Item& item : items) {
      if (const auto known = sources_.find(item.subject); known != sources_.end()) item.source = known->second;
    }
  }

 private:
  std::map<std::string, SourceLine> sources_;
};

bool has_regression(const RunComparison& comparison) {
  const auto is_one = [](const auto& item) { return is_regression(item); };
  return std::any_of(comparison.changes.begin(), comparison.changes.end(), is_one) ||
         std::any_of(comparison.rows.begin(), comparison.rows.end(), is_one) ||
         std::any_of(comparison.pipeline_rows.begin(), comparison.pipeline_rows.end(), is_one);
}

/// Whether times could be compared at all: enough recordings, and something in them that takes time.
bool has_judged_times(const RunComparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const TimeRow& row) {
    return row.is_judged && (row.kind == TimeKind::self || row.kind == TimeKind::op);
  });
}

/// Whether steps got so much longer that "nothing got slower" would be false, whatever the reason is.
bool has_unexplained_step(const RunComparison& comparison, double min_ratio) {
  return std::any_of(comparison.pipeline_rows.begin(), comparison.pipeline_rows.end(), [&](const TimeRow& row) {
    return row.kind == TimeKind::step && !row.is_judged && row.ratio() >= min_ratio;
  });
}

void append(std::vector<StructureChange> more, std::vector<StructureChange>& changes) {
  changes.insert(changes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

RunComparison compare(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                      const ComparisonChoice& choice, const ThresholdValues& thresholds) {
  const std::vector<RunSummary> whole_base = without_torn(base);
  const std::vector<RunSummary> whole_candidate = without_torn(candidate);
  const AlignedRuns runs = align_runs(whole_base, whole_candidate);
  const TimeLimits limits = time_limits(choice, thresholds);
  RunComparison comparison;
  comparison.base_count = whole_base.size();
  comparison.candidate_count = whole_candidate.size();
  comparison.needed_count = limits.needed_count;
  add_note_on_torn("base", base.size() - whole_base.size(), base.size(), comparison);
  add_note_on_torn("candidate", candidate.size() - whole_candidate.size(), candidate.size(), comparison);
  // A side that is left without recordings has lost nothing: what it showed is not known.
  const bool has_both = !whole_base.empty() && !whole_candidate.empty();
  if (!has_both && whole_base.size() + whole_candidate.size() < base.size() + candidate.size()) return comparison;
  comparison.changes = find_structure_changes(runs, thresholds);
  append(find_function_changes(runs, thresholds), comparison.changes);
  append(find_finding_changes(runs, choice, limits.needed_count), comparison.changes);
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const StructureChange& a, const StructureChange& b) {
                     return is_regression(a) != is_regression(b) ? is_regression(a) : a.is_certain && !b.is_certain;
                   });
  comparison.rows = compare_times(runs, limits, thresholds);
  comparison.pipeline_rows = compare_pipelines(runs, choice, limits, thresholds);
  const SourceFinder sources(runs);
  sources.add_to(comparison.changes);
  sources.add_to(comparison.rows);
  add_notes(runs, comparison);
  if (has_regression(comparison)) {
    comparison.outcome = ComparisonOutcome::regression;
  } else if (has_judged_times(comparison) &&
             !has_unexplained_step(comparison, thresholds["undecided_step_min_ratio"])) {
    comparison.outcome = ComparisonOutcome::no_regression;
  }
  return comparison;
}

}  // namespace doctor
