#include "compare/structure_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "compare/iterator_settings.h"
#include "compare/step_model.h"
#include "compare/tree_alignment.h"
#include "text/numbers.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Whether all recordings plan the same.
bool agree_on_calls(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices, double planned) {
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) return false;
    if (planned_calls_per_step(runs[recording], indices[recording]) != planned) return false;
  }
  return true;
}

bool agree_on_kind(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices, std::string_view kind) {
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex || runs[recording].iterators[indices[recording]].kind != kind) return false;
  }
  return true;
}

bool is_below(const RunSummary& run, std::size_t iterator, std::size_t ancestor) {
  while (iterator != kNoIndex && iterator != ancestor) iterator = run.iterators[iterator].parent;
  return iterator == ancestor;
}

bool is_below_cache(const RunSummary& run, std::size_t iterator) {
  for (std::size_t above = run.iterators[iterator].parent; above != kNoIndex; above = run.iterators[above].parent) {
    if (dataset_kind(run.iterators[above].kind).has(Trait::cache)) return true;
  }
  return false;
}

/// Whether taking it away makes a pipeline slower.
bool is_for_speed(const IteratorSummary& iterator) {
  return dataset_kind(iterator.kind).has(Trait::cache | Trait::prefetch | Trait::snapshot);
}

bool is_on_threads(const IteratorSummary& iterator) {
  return dataset_kind(iterator.kind).has(Trait::parallel);
}

std::string place_of(const RunSummary& run, std::size_t iterator) {
  const std::size_t parent = run.iterators[iterator].parent;
  const bool is_top = parent == kNoIndex || run.iterators[parent].parent == kNoIndex;
  return is_top && (parent == kNoIndex || dataset_kind(run.iterators[parent].kind).has(Trait::frame))
             ? std::string("at the top")
             : "below " + run.iterators[parent].words;
}

/// Whether it, or one above it, is the input of something that has one input only, beside another of its name that is
/// called more often: what is left of an earlier run of the same pipeline, which the window shows or does not.
bool is_left_over(const RunSummary& run, std::size_t iterator) {
  for (; iterator != kNoIndex; iterator = run.iterators[iterator].parent) {
    const IteratorSummary& one = run.iterators[iterator];
    if (one.parent == kNoIndex) return false;
    const DatasetKind& above = dataset_kind(run.iterators[one.parent].kind);
    if (above.has(Trait::several_inputs) || above.has(Trait::makes_datasets)) continue;
    const bool has_twin = std::any_of(run.iterators.begin(), run.iterators.end(), [&](const IteratorSummary& other) {
      return other.parent == one.parent && other.kind == one.kind && other.calls > one.calls;
    });
    if (has_twin) return true;
  }
  return false;
}

std::string times(double count) {
  const double rounded = std::round(count);
  const bool is_whole = std::abs(count - rounded) < 0.005 && rounded >= 1;
  return is_whole ? fmt::format("{:.0f} {}", rounded, rounded == 1 ? "time" : "times")
                  : fmt::format("{:.2f} times", count);
}

class ChangeFinder {
 public:
  ChangeFinder(const AlignedRuns& runs, const ThresholdValues& thresholds) : runs_(runs), thresholds_(thresholds) {}

  std::vector<StructureChange> find() {
    if (!runs_.show_iterators()) return {};
    find_moves();
    for (std::size_t index = 0; index < runs_.iterators.size(); ++index) look_at(index);
    judge_additions();
    return std::move(changes_);
  }

 private:
  /// What is gone in one place and new in another.
  void find_moves() {
    moved_to_.assign(runs_.iterators.size(), kNoIndex);
    is_move_target_.assign(runs_.iterators.size(), false);
    for (std::size_t gone = 0; gone < runs_.iterators.size(); ++gone) {
      if (!runs_.iterators[gone].is_gone() || is_left_over(*runs_.base, runs_.iterators[gone].base_index)) continue;
      for (std::size_t added = 0; added < runs_.iterators.size(); ++added) {
        if (!runs_.iterators[added].is_new() || is_move_target_[added]) continue;
        const IteratorSummary& before = *runs_.iterators[gone].base;
        const IteratorSummary& after = *runs_.iterators[added].candidate;
        if (family_of(before.kind) != family_of(after.kind) || !have_like_functions(before, after)) continue;
        moved_to_[gone] = added;
        is_move_target_[added] = true;
        break;
      }
    }
  }

  void look_at(std::size_t index) {
    const AlignedIterator& iterator = runs_.iterators[index];
    if (iterator.is_gone()) {
      if (is_left_over(*runs_.base, iterator.base_index)) return;
      if (moved_to_[index] != kNoIndex) return add_move(iterator, runs_.iterators[moved_to_[index]]);
      return add_removal(iterator);
    }
    if (iterator.is_new()) {
      if (is_addition(index)) add_addition(iterator);
      return;
    }
    compare_pair(iterator, iterator);
    compare_calls(iterator, iterator);
  }

  /// Whether an addition is told of it.
  bool is_addition(std::size_t index) const {
    const AlignedIterator& iterator = runs_.iterators[index];
    return iterator.is_new() && !is_move_target_[index] && !is_left_over(*runs_.candidate, iterator.candidate_index);
  }

  /// `before` and `after` are one iterator, in one place or in two.
  void compare_pair(const AlignedIterator& before, const AlignedIterator& after) {
    compare_form(before, after);
    compare_settings(before, after);
  }

  StructureChange& add(ChangeKind kind, const IteratorSummary& iterator, std::string message) {
    changes_.push_back({kind, iterator.long_name, iterator.words, std::move(message), true, false});
    return changes_.back();
  }

  static bool is_everywhere(const std::vector<std::size_t>& indices) {
    return std::count(indices.begin(), indices.end(), kNoIndex) == 0;
  }
  static bool is_nowhere(const std::vector<std::size_t>& indices) {
    return std::count(indices.begin(), indices.end(), kNoIndex) == std::ssize(indices);
  }

  /// Whether it is called so rarely, and less than once a step, that the window may show it or not: files are opened
  /// where an epoch ends.
  bool shows_by_chance(const RunSummary& run, std::size_t iterator) const {
    const std::uint64_t calls = run.iterators[iterator].calls;
    return static_cast<double>(calls) < thresholds_["min_calls"] && calls < root_of(run, iterator).calls;
  }

  void add_removal(const AlignedIterator& iterator) {
    StructureChange& change =
        add(ChangeKind::iterator_removed, *iterator.base,
            fmt::format("{} is gone; it was {}", iterator.base->words, place_of(*runs_.base, iterator.base_index)));
    change.is_certain = is_everywhere(iterator.in_base) && is_nowhere(iterator.in_candidate) &&
                        !shows_by_chance(*runs_.base, iterator.base_index);
    if (is_below_cache(*runs_.base, iterator.base_index)) {
      change.is_certain = false;
      change.message += " (what is below a cache shows only while the cache is filled)";
    }
    change.is_worse = is_for_speed(*iterator.base);
  }

  /// Whether the base kept its elements in a cache that is gone, so that only the candidate shows it at work.
  bool was_cached(const AlignedIterator& iterator) const {
    for (const AlignedIterator& one : runs_.iterators) {
      if (!one.is_gone() || !dataset_kind(one.base->kind).has(Trait::cache)) continue;
      // What stood above the cache stands above what it kept.
      for (std::size_t above = one.base->parent; above != kNoIndex; above = runs_.base->iterators[above].parent) {
        if (runs_.iterators[above].is_gone()) continue;
        return is_below(*runs_.candidate, iterator.candidate_index, runs_.iterators[above].candidate_index);
      }
    }
    return false;
  }

  void add_addition(const AlignedIterator& iterator) {
    const std::string place = place_of(*runs_.candidate, iterator.candidate_index);
    const std::string& words = iterator.candidate->words;
    std::string message = fmt::format("{} is new {}", words, place);
    if (was_cached(iterator)) message = fmt::format("{} works in every epoch now that the cache is gone", words);
    if (dataset_kind(iterator.candidate->kind).has(Trait::batch) && count_splits() > 0) {
      message = fmt::format("{} is no longer fused with its map", words);
    }
    StructureChange& change = add(ChangeKind::iterator_added, *iterator.candidate, std::move(message));
    change.is_certain = is_everywhere(iterator.in_candidate) && is_nowhere(iterator.in_base) &&
                        !shows_by_chance(*runs_.candidate, iterator.candidate_index);
    if (is_below_cache(*runs_.candidate, iterator.candidate_index)) {
      change.is_certain = false;
      change.message += " (what is below a cache shows only while the cache is filled)";
    }
  }

  /// A new iterator makes the pipeline slower by its work, if that is more than the work of what is gone.
  void judge_additions() {
    const double all = pipeline_work_us(*runs_.base);
    double net = 0;
    for (const AlignedIterator& iterator : runs_.iterators) {
      if (iterator.is_new()) net += iterator_work_us(*runs_.candidate, iterator.candidate_index);
      if (iterator.is_gone()) net -= iterator_work_us(*runs_.base, iterator.base_index);
    }
    std::size_t change = 0;
    std::size_t split_off = count_splits();
    for (std::size_t index = 0; index < runs_.iterators.size(); ++index) {
      const AlignedIterator& iterator = runs_.iterators[index];
      if (!is_addition(index)) continue;
      while (changes_[change].kind != ChangeKind::iterator_added) ++change;
      StructureChange& addition = changes_[change++];
      if (split_off > 0 && dataset_kind(iterator.candidate->kind).has(Trait::batch)) {
        --split_off;
        continue;
      }
      const double work = iterator_work_us(*runs_.candidate, iterator.candidate_index);
      add_work(work, addition);
      const double most = thresholds_["max_extra_work"];
      addition.is_worse = net > most * all && addition.added_share.value_or(0) > most;
    }
  }

  /// Maps that made batches too, whose batches are a new iterator's work now.
  std::size_t count_splits() const {
    const auto is_split = [](const AlignedIterator& iterator) {
      return !iterator.is_new() && !iterator.is_gone() && is_map_and_batch(*iterator.base) &&
             !is_map_and_batch(*iterator.candidate);
    };
    return static_cast<std::size_t>(std::count_if(runs_.iterators.begin(), runs_.iterators.end(), is_split));
  }

  void add_move(const AlignedIterator& before, const AlignedIterator& after) {
    const std::string old_place = place_of(*runs_.base, before.base_index);
    const std::string place = place_of(*runs_.candidate, after.candidate_index);
    // Of two alike below one of these words, which is which may not be known.
    if (place != old_place) {
      StructureChange& change =
          add(ChangeKind::iterator_moved, *before.base,
              fmt::format("{} moved: it was {} and is now {}", before.base->words, old_place, place));
      change.is_certain = is_everywhere(before.in_base) && is_everywhere(after.in_candidate);
    }
    compare_pair(before, after);
    compare_calls(before, after);
  }

  void compare_form(const AlignedIterator& before, const AlignedIterator& after) {
    if (before.base->kind == after.candidate->kind) return;
    // The iterators of a cache tell what it is doing: filling or reading.
    if (dataset_kind(before.base->kind).has(Trait::cache)) return;
    StructureChange& change = add(ChangeKind::form_changed, *before.base,
                                  fmt::format("{} became {}", before.base->words, after.candidate->words));
    change.is_certain = agree_on_kind(runs_.base_runs, before.in_base, before.base->kind) &&
                        agree_on_kind(runs_.candidate_runs, after.in_candidate, after.candidate->kind);
    change.is_worse = is_on_threads(*before.base) && !is_on_threads(*after.candidate);
  }

  void compare_settings(const AlignedIterator& before, const AlignedIterator& after) {
    for (const SettingKind& kind : setting_kinds()) {
      const SettingRange range_before = range_of(kind, runs_.base_runs, before.in_base);
      const SettingRange range_after = range_of(kind, runs_.candidate_runs, after.in_candidate);
      if (!range_before.is_known() || !range_after.is_known()) continue;
      if (!differ(kind, range_before, range_after)) continue;
      const bool is_gone = range_after.is_set_by_tf && !range_before.is_set_by_tf;
      StructureChange& change =
          add(ChangeKind::setting_changed, *before.base,
              fmt::format("{} of {}{}: {} -> {}", kind.words, before.base->words, is_gone ? " is gone" : "",
                          to_words(range_before), to_words(range_after)));
      change.is_certain = are_apart(range_before, range_after);
      // What AUTOTUNE chose in this window is not a choice of the user: it may choose more in the next.
      change.is_worse = kind.less_is_slower && !range_after.is_tuned && range_after.high < range_before.high;
    }
  }

  void compare_calls(const AlignedIterator& before, const AlignedIterator& after) {
    if (!has_like_steps(runs_, before, after)) return;
    const std::optional<double> planned_before = planned_calls_per_step(*runs_.base, before.base_index);
    const std::optional<double> planned_after = planned_calls_per_step(*runs_.candidate, after.candidate_index);
    if (!planned_before || !planned_after) return;
    const double ratio = *planned_after / *planned_before;
    const double floor = thresholds_["calls_min_ratio"];
    if (ratio < floor && ratio > 1 / floor) return;
    const double added = iterator_work_us(*runs_.candidate, after.candidate_index) * (1 - 1 / ratio);
    StructureChange& change = add(ChangeKind::calls_changed, *before.base,
                                  fmt::format("{} is called {} a step instead of {}", before.base->words,
                                              times(*planned_after), times(*planned_before)));
    change.is_certain = agree_on_calls(runs_.base_runs, before.in_base, *planned_before) &&
                        agree_on_calls(runs_.candidate_runs, after.in_candidate, *planned_after);
    add_work(added, change);
    change.is_worse = ratio > 1 && change.added_share.value_or(1) > thresholds_["max_extra_work"];
  }

  /// Says what a change adds to a step; nothing where the trace does not show the work.
  void add_work(double microseconds, StructureChange& change) const {
    if (microseconds == 0) return;
    const double all = pipeline_work_us(*runs_.base);
    change.added_share = all > 0 ? microseconds / all : 1;
    change.message += ", " + format_added_work(microseconds);
  }

  const AlignedRuns& runs_;
  const ThresholdValues& thresholds_;
  std::vector<StructureChange> changes_;
  std::vector<std::size_t> moved_to_;  ///< indexed as the iterators: where one that is gone is now
  std::vector<bool> is_move_target_;
};

}  // namespace

std::string format_added_work(double microseconds) {
  const std::string time = format_time(static_cast<Picoseconds>(std::llround(std::abs(microseconds) * 1e6)));
  return (microseconds < 0 ? "-" : "+") + time + " of work a step";
}

double all_work_us(const RunSummary& run) {
  double work = 0;
  for (std::size_t index = 0; index < run.iterators.size(); ++index) work += work_per_step_us(run, index);
  return work;
}

double work_us(const DurationStatistics& durations) {
  // A stored run may hold any number: no sum may overflow.
  return std::min(to_microseconds(durations.total),
                  to_microseconds(durations.p90) * static_cast<double>(durations.count));
}

double work_per_step_us(const RunSummary& run, std::size_t iterator) {
  const IteratorSummary& summary = run.iterators[iterator];
  double work = work_us(summary.self);
  if (summary.self.count == 0) {
    for (const OpSummary& op : summary.function_ops) work += work_us(op.durations);
  }
  const std::uint64_t steps = root_of(run, iterator).calls;
  return steps == 0 ? 0 : work / static_cast<double>(steps);
}

bool has_like_calls(const AlignedRuns& runs, const AlignedIterator& iterator) {
  return runs.base_elements[iterator.base_index] == runs.candidate_elements[iterator.candidate_index];
}

bool has_like_steps(const AlignedRuns& runs, const AlignedIterator& before, const AlignedIterator& after) {
  return runs.base_elements[before.base_root] == runs.candidate_elements[after.candidate_root];
}

std::vector<StructureChange> find_structure_changes(const AlignedRuns& runs, const ThresholdValues& thresholds) {
  return ChangeFinder(runs, thresholds).find();
}

}  // namespace doctor
