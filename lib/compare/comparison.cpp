#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/ranks.h"
#include "base/time.h"
#include "compare/comparison_parts.h"
#include "compare/sessions.h"
#include "compare/step_model.h"
#include "compare/structure_changes.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// 0 if no recording shows steps.
double median_rate(std::span<const RunSummary> runs) {
  std::vector<double> rates;
  for (const RunSummary& run : runs) {
    if (run.is_torn) continue;
    if (const std::optional<double> rate = steps_per_s(run)) rates.push_back(*rate);
  }
  return median(rates);
}

/// A pace that is as near to 1 as this is not worth a line.
constexpr double kPaceToTell = 0.01;

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

void add_note_on_machines(std::string_view side, std::size_t kept, std::size_t all, RunComparison& comparison) {
  if (kept == all) return;
  comparison.notes.push_back(
      fmt::format("{} of {} {} recordings were made on other machines and are left out", all - kept, all, side));
}

/// What the recordings' machines, days and processes have to do with the times.
void add_notes_on_sessions(const Sessions& sessions, const ThresholdValues& thresholds, RunComparison& comparison) {
  comparison.notes.insert(comparison.notes.end(), comparison.machines.notes.begin(), comparison.machines.notes.end());
  if (comparison.pace.rows > 0 && std::abs(comparison.pace.ratio - 1) >= kPaceToTell) {
    comparison.notes.push_back(fmt::format("{}: {} move together by that, and each is compared with the others",
                                           describe_pace(comparison.pace),
                                           format_count(comparison.pace.rows, "number")));
  }
  if (sessions.share_sittings || comparison.machines.is_other) return;
  if (std::min(comparison.base_count, comparison.candidate_count) < comparison.needed_count) return;
  const double spread = thresholds["sitting_spread"] * std::sqrt(1 / static_cast<double>(sessions.base_sittings) +
                                                                 1 / static_cast<double>(sessions.candidate_sittings));
  comparison.notes.push_back(fmt::format(
      "base and candidate were not recorded in turn ({} against {}), so a call must take about {:.3g}x as long to "
      "count; {}",
      format_count(sessions.base_sittings, "sitting"), sessions.candidate_sittings,
      std::exp(thresholds["spread_errors"] * spread),
      sessions.base_sittings < 2 ? "recordings of another day in the baseline lower that"
                                 : "more sittings lower that"));
}

/// The lines of the iterators that rows and changes are about.
class SourceFinder {
 public:
  explicit SourceFinder(const AlignedRuns& runs) {
    for (const AlignedIterator& iterator : runs.iterators) {
      const IteratorSummary& latest = iterator.is_gone() ? *iterator.base : *iterator.candidate;
      if (!latest.source) continue;
      if (!iterator.is_new()) known_.emplace(iterator.base->long_name, *latest.source);
      if (iterator.is_new()) new_.emplace(latest.long_name, *latest.source);
      if (!iterator.is_gone()) in_candidate_.emplace(latest.long_name, *latest.source);
    }
  }

  void add_to(std::vector<StructureChange>& changes) const {
    for (StructureChange& change : changes) {
      // What is new may have the name that something else had in the base.
      const bool is_new = change.kind == ChangeKind::iterator_added;
      change.source = find(is_new                                   ? new_
                           : change.kind == ChangeKind::finding_new ? in_candidate_
                                                                    : known_,
                           change.subject);
    }
  }
  void add_to(std::vector<TimeRow>& rows) const {
    for (TimeRow& row : rows) row.source = find(known_, row.subject);
  }

 private:
  using Sources = std::map<std::string, SourceLine>;

  /// Findings of the candidate go by its names.
  std::optional<SourceLine> find(const Sources& first, const std::string& subject) const {
    for (const Sources* sources : {&first, &in_candidate_}) {
      if (const auto known = sources->find(subject); known != sources->end()) return known->second;
    }
    return std::nullopt;
  }

  Sources known_;  ///< by name in the base
  Sources new_;    ///< of what only the candidate has
  Sources in_candidate_;
};

/// The longest of the modelled steps, candidate against base; 1 where none is known.
double modelled_slowdown(const RunComparison& comparison) {
  double slowdown = 1;
  for (const TimeRow& row : comparison.pipeline_rows) {
    if (row.kind == TimeKind::modelled) slowdown = std::max(slowdown, row.ratio() / comparison.pace.ratio);
  }
  return slowdown;
}

/// Where the user says how much longer a step may get, what does not make it so much longer is not a regression.
/// Findings are about more than time.
void allow_slowdown(double max_slowdown, RunComparison& comparison) {
  const bool is_known = std::any_of(comparison.pipeline_rows.begin(), comparison.pipeline_rows.end(),
                                    [](const TimeRow& row) { return row.kind == TimeKind::modelled; });
  const double slowdown = modelled_slowdown(comparison) - 1;
  if (!is_known) {
    comparison.notes.emplace_back("how much longer a step gets is not known, so --max-slowdown changes nothing");
    return;
  }
  const bool is_allowed = slowdown <= max_slowdown;
  comparison.notes.push_back(
      fmt::format("by its work a step gets {:.1f}% longer, and {:g}% are allowed", 100 * slowdown, 100 * max_slowdown));
  if (!is_allowed) return;
  for (StructureChange& change : comparison.changes) {
    if (change.kind != ChangeKind::finding_new) change.is_worse = false;
  }
  for (TimeRow& row : comparison.rows) {
    if (is_regression(row)) row.reason = "the step gets longer by less than is allowed";
    if (is_regression(row)) row.difference = Difference::unknown;
  }
}

/// Of two hours of one machine only what it did in them may differ: findings follow from that, where neither the
/// pipeline nor its times did.
void excuse_findings(const Sessions& sessions, RunComparison& comparison) {
  if (sessions.share_sittings || comparison.machines.is_other) return;
  const auto is_of_pipeline = [](const StructureChange& change) {
    return change.is_certain && change.kind != ChangeKind::finding_new && change.kind != ChangeKind::finding_gone;
  };
  const auto is_slower = [](const TimeRow& row) { return is_regression(row); };
  if (std::any_of(comparison.changes.begin(), comparison.changes.end(), is_of_pipeline)) return;
  if (std::any_of(comparison.rows.begin(), comparison.rows.end(), is_slower)) return;
  for (StructureChange& change : comparison.changes) {
    if (change.kind != ChangeKind::finding_new || !is_regression(change)) continue;
    change.is_worse = false;
    change.message += "; the pipeline and its times are the same, so the machine is the reason";
  }
}

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

/// Whether steps got so much longer that "nothing got slower" would be false, whatever the reason is. Where recordings
/// of one side differ among themselves as those of both sides do, it is the machine that lengthens some.
bool has_unexplained_step(const RunComparison& comparison, const ThresholdValues& thresholds) {
  constexpr double kRounding = 1e-9;
  const double min_ratio = thresholds["undecided_step_min_ratio"] * std::max(comparison.pace.ratio, 1.0);
  return std::any_of(comparison.pipeline_rows.begin(), comparison.pipeline_rows.end(), [&](const TimeRow& row) {
    return row.kind == TimeKind::step && !row.is_judged && row.ratio() >= min_ratio &&
           row.p_value <= thresholds["undecided_significance"] + kRounding;
  });
}

/// What each stage of the slowest pipeline needs for a step, on both sides, and the loop.
std::vector<StageTimes> compare_stages(const AlignedRuns& runs) {
  if (!runs.show_iterators()) return {};
  const PipelineSummary* const base = slowest_pipeline(*runs.base, /*has_root=*/true);
  const PipelineSummary* const candidate = slowest_pipeline(*runs.candidate, /*has_root=*/true);
  if (base == nullptr || candidate == nullptr) return {};
  const std::vector<double> base_us = stage_times_us(*runs.base, *base);
  const std::vector<double> candidate_us = stage_times_us(*runs.candidate, *candidate);
  std::vector<StageTimes> stages = {{"training loop", consumer_us(*base), consumer_us(*base)}};
  for (const AlignedIterator& iterator : runs.iterators) {
    stages.push_back({iterator.is_gone() ? iterator.base->words : iterator.candidate->words,
                      iterator.is_new() ? 0 : base_us[iterator.base_index],
                      iterator.is_gone() ? 0 : candidate_us[iterator.candidate_index]});
  }
  std::erase_if(stages, [](const StageTimes& one) { return one.base_us <= 0 && one.candidate_us <= 0; });
  std::stable_sort(stages.begin(), stages.end(), [](const StageTimes& a, const StageTimes& b) {
    return std::abs(a.candidate_us - a.base_us) > std::abs(b.candidate_us - b.base_us);
  });
  return stages;
}

void append(std::vector<StructureChange> more, std::vector<StructureChange>& changes) {
  changes.insert(changes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::optional<double> steps_per_s(const RunSummary& run) {
  std::optional<double> slowest;
  for (const PipelineSummary& pipeline : run.pipelines) {
    if (pipeline.feeds_another || pipeline.step.total <= 0) continue;
    const double steps = static_cast<double>(pipeline.step.count);
    const double rate = steps * static_cast<double>(kPicosecondsPerSecond) / static_cast<double>(pipeline.step.total);
    if (!slowest || rate < *slowest) slowest = rate;
  }
  return slowest;
}

std::optional<ClosedGap> closed_gap(std::string source, std::span<const RunSummary> base,
                                    std::span<const RunSummary> candidate, std::span<const RunSummary> ideal) {
  const IdealGap gap = {median_rate(base), median_rate(ideal), true};
  const double closed_to = median_rate(candidate);
  if (gap.from <= 0 || gap.to <= 0 || closed_to <= 0) return std::nullopt;
  return ClosedGap{std::move(source), gap, closed_to};
}

RunComparison compare(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                      const ComparisonChoice& choice, const ThresholdValues& thresholds) {
  const std::vector<RunSummary> every_base = without_torn(base);
  const std::vector<RunSummary> every_candidate = without_torn(candidate);
  const std::vector<RunSummary> whole_base = on_machines_of(every_base, every_candidate);
  const std::vector<RunSummary> whole_candidate = on_machines_of(every_candidate, every_base);
  const AlignedRuns runs = align_runs(whole_base, whole_candidate);
  const TimeLimits limits = time_limits(choice, thresholds);
  RunComparison comparison;
  comparison.base_count = whole_base.size();
  comparison.candidate_count = whole_candidate.size();
  comparison.needed_count = limits.needed_count;
  add_note_on_torn("base", base.size() - every_base.size(), base.size(), comparison);
  add_note_on_torn("candidate", candidate.size() - every_candidate.size(), candidate.size(), comparison);
  add_note_on_machines("base", whole_base.size(), every_base.size(), comparison);
  add_note_on_machines("candidate", whole_candidate.size(), every_candidate.size(), comparison);
  comparison.machines = compare_machines(whole_base, whole_candidate);
  // A side that is left without recordings has lost nothing: what it showed is not known.
  const bool has_both = !whole_base.empty() && !whole_candidate.empty();
  if (!has_both && whole_base.size() + whole_candidate.size() < base.size() + candidate.size()) return comparison;
  comparison.max_extra_work = thresholds["max_extra_work"];
  comparison.stages = compare_stages(runs);
  comparison.changes = find_structure_changes(runs, thresholds);
  append(find_function_changes(runs, thresholds), comparison.changes);
  append(find_size_changes(runs, thresholds), comparison.changes);
  append(find_finding_changes(runs, choice, limits.needed_count), comparison.changes);
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const StructureChange& a, const StructureChange& b) {
                     return is_regression(a) != is_regression(b) ? is_regression(a) : a.is_certain && !b.is_certain;
                   });
  const TimeConditions conditions = {find_sessions(whole_base, whole_candidate, thresholds),
                                     comparison.machines.is_other, choice.is_across_machines};
  ComparedTimes times = compare_times(runs, conditions, limits, thresholds);
  comparison.rows = std::move(times.rows);
  comparison.pace = times.pace;
  comparison.pipeline_rows = compare_pipelines(runs, choice, comparison.machines.is_other, limits, thresholds);
  excuse_findings(conditions.sessions, comparison);
  const SourceFinder sources(runs);
  sources.add_to(comparison.changes);
  sources.add_to(comparison.rows);
  add_notes(runs, comparison);
  add_notes_on_sessions(conditions.sessions, thresholds, comparison);
  if (choice.max_slowdown) allow_slowdown(*choice.max_slowdown, comparison);
  if (has_regression(comparison)) {
    comparison.outcome = ComparisonOutcome::regression;
  } else if (has_judged_times(comparison) && !has_unexplained_step(comparison, thresholds)) {
    comparison.outcome = ComparisonOutcome::no_regression;
  }
  return comparison;
}

}  // namespace doctor
