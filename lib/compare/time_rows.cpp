#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compare/comparison_parts.h"
#include "compare/op_calls.h"
#include "compare/row_judge.h"
#include "compare/step_model.h"
#include "compare/structure_changes.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

const DurationStatistics* find_op(const IteratorSummary& iterator, std::string_view op) {
  const OpSummary* const found = find_function_op(iterator, op);
  return found == nullptr ? nullptr : &found->durations;
}

/// A number of one iterator in one recording; nullopt where the recording has too little of it.
using ReadIterator = std::function<std::optional<double>(const RunSummary&, std::size_t iterator)>;

Readings read_each(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices,
                   const ReadIterator& reading) {
  Readings readings;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) continue;
    if (const std::optional<double> value = reading(runs[recording], indices[recording])) {
      readings.values.push_back(*value);
      readings.recordings.push_back(recording);
    }
  }
  return readings;
}

std::vector<double> read_all(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices,
                             const ReadIterator& reading) {
  return read_each(runs, indices, reading).values;
}

/// The durations of an iterator that a row is about; null where it has none.
using FindDurations = std::function<const DurationStatistics*(const IteratorSummary&)>;

constexpr std::string_view kOtherWork = "its function runs other ops, or another number of them";

/// What a row is of the pipeline's work: microseconds for each step.
struct Work {
  double base = 0;
  double candidate = 0;
};

class TimeComparer {
 public:
  TimeComparer(const AlignedRuns& runs, const TimeConditions& conditions, const TimeLimits& limits,
               const ThresholdValues& thresholds)
      : runs_(runs), conditions_(conditions), limits_(limits), thresholds_(thresholds) {}

  ComparedTimes compare() {
    if (runs_.base == nullptr || runs_.candidate == nullptr) return {};
    base_work_ = all_work_us(*runs_.base);
    candidate_work_ = all_work_us(*runs_.candidate);
    for (const AlignedIterator& iterator : runs_.iterators) {
      if (!iterator.is_new() && !iterator.is_gone()) add_rows(iterator);
    }
    const Pace pace = follow_pace();
    judge({TimeKind::self, TimeKind::op}, {limits_.min_ratio, thresholds_["clock_grain"]});
    drop_what_costs_nothing();
    drop_gains_of_other_ops();
    judge_work();
    judge({TimeKind::calls}, {thresholds_["calls_min_ratio"], 0});
    judge({TimeKind::tail}, {1, thresholds_["tail_min_share"]});
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const TimeRow& a, const TimeRow& b) { return std::abs(a.cost_us) > std::abs(b.cost_us); });
    return {std::move(rows_), pace};
  }

 private:
  static double tail_share(const DurationStatistics& durations) {
    return durations.total > 0 ? static_cast<double>(durations.tail) / static_cast<double>(durations.total) : 0;
  }

  /// Rows about the durations that `find` finds of an iterator: what a call takes, and its tail if there is one.
  void add_durations(const TimeRow& subject, const AlignedIterator& iterator, const FindDurations& find) {
    const std::optional<OpCallsChange> change =
        subject.op.empty() ? std::nullopt : change_of_op_calls(runs_, iterator, subject.op, thresholds_);
    const Work work = {median(read_all(runs_.base_runs, iterator.in_base, work_of(find))),
                       median(read_all(runs_.candidate_runs, iterator.in_candidate, work_of(find)))};
    TimeRow row = subject;
    read_durations(row, iterator, find, [](const DurationStatistics& times) { return to_microseconds(times.p25); });
    finish(row, iterator, work);
    row.cost_us = row.candidate_median * count_per_step(*runs_.candidate, iterator.candidate_index, find) -
                  row.base_median * count_per_step(*runs_.base, iterator.base_index, find);
    row.longer_step = longer_step(iterator, !subject.op.empty(), row.cost_us);
    if (change) say_other_calls(row, *change, work_of_op(runs_, iterator, row.op, *change));
    rows_.push_back(std::move(row));

    TimeRow tail = subject;
    tail.kind = TimeKind::tail;
    read_durations(tail, iterator, find, tail_share);
    const auto is_none = [](double value) { return value == 0; };
    if (std::all_of(tail.base.begin(), tail.base.end(), is_none) &&
        std::all_of(tail.candidate.begin(), tail.candidate.end(), is_none)) {
      return;
    }
    finish(tail, iterator, work);
    if (change) tail.is_judged = false;
    if (tail.is_judged && !conditions_.sessions.share_sittings) {
      tail.is_judged = false;
      tail.reason = "not recorded in turn, and calls that others hold up are of their hour";
    }
    tail.cost_us = tail.candidate_median * work.candidate - tail.base_median * work.base;
    rows_.push_back(std::move(tail));
  }

  /// Where there are more calls, a call that takes less gains nothing: the work counts, and the change of calls is told
  /// by itself.
  static void say_other_calls(TimeRow& row, const OpCallsChange& change, const OpWork& work) {
    row.is_judged = false;
    row.needed.reset();
    row.cost_us = work.added_us();
    row.longer_step.reset();
    row.reason = fmt::format("it is called {} for the same elements, so the times of a call are not compared",
                             change.after > change.before ? "more often" : "less often");
  }

  /// One number of the durations, in every recording that has enough of them.
  void read_durations(TimeRow& row, const AlignedIterator& iterator, const FindDurations& find,
                      const std::function<double(const DurationStatistics&)>& number) const {
    const ReadIterator reading = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
      const DurationStatistics* const durations = find(run.iterators[index]);
      const bool is_enough = durations != nullptr && static_cast<double>(durations->count) >= thresholds_["min_calls"];
      return is_enough ? std::optional(number(*durations)) : std::nullopt;
    };
    read_both(row, iterator, reading);
  }

  static ReadIterator work_of(const FindDurations& find) {
    return [&find](const RunSummary& run, std::size_t index) -> std::optional<double> {
      const DurationStatistics* const durations = find(run.iterators[index]);
      if (durations == nullptr) return std::nullopt;
      const auto calls = static_cast<double>(run.iterators[index].calls);
      return calls == 0 ? 0 : work_us(*durations) / calls * calls_per_step(run, index);
    };
  }

  static double count_per_step(const RunSummary& run, std::size_t iterator, const FindDurations& find) {
    const IteratorSummary& summary = run.iterators[iterator];
    const DurationStatistics* const durations = find(summary);
    if (durations == nullptr || summary.calls == 0) return 0;
    return static_cast<double>(durations->count) / static_cast<double>(summary.calls) *
           steady_calls_per_step(run, iterator);
  }

  /// By the model of the base; nullopt where it shows no steps.
  std::optional<double> longer_step(const AlignedIterator& iterator, bool is_in_function, double added_us) const {
    const PipelineSummary* const pipeline = find_pipeline(*runs_.base, iterator.base_root);
    if (pipeline == nullptr) return std::nullopt;
    const std::optional<double> before = modelled_step_us(*runs_.base, *pipeline);
    const std::optional<double> after =
        modelled_step_us(*runs_.base, *pipeline, {}, {iterator.base_index, is_in_function, added_us});
    if (!before || *before <= 0) return std::nullopt;
    return *after / *before - 1;
  }

  /// What a row must cost, or save, at least, in microseconds: a share of the longer step.
  double least_cost_us(const TimeRow& row) const {
    for (const AlignedIterator& iterator : runs_.iterators) {
      if (iterator.is_new() || iterator.is_gone() || iterator.base->long_name != row.subject) continue;
      double step_us = 0;
      for (const PipelineSummary* const pipeline :
           {find_pipeline(*runs_.base, iterator.base_root), find_pipeline(*runs_.candidate, iterator.candidate_root)}) {
        if (pipeline != nullptr) step_us = std::max(step_us, to_microseconds(pipeline->step.median));
      }
      return thresholds_["min_step_share"] * step_us;
    }
    return 0;
  }

  bool costs_enough(const TimeRow& row) const {
    const double cost_us = row.difference == Difference::slower ? row.cost_us : -row.cost_us;
    return cost_us > 0 && cost_us >= least_cost_us(row);
  }

  /// A call that takes longer may cost a step nothing worth a word, and one that takes less may be more in all.
  void drop_what_costs_nothing() {
    for (TimeRow* const row : judged({TimeKind::self, TimeKind::op})) {
      const bool is_other = row->difference == Difference::slower || row->difference == Difference::faster;
      if (!is_other || costs_enough(*row)) continue;
      row->reason = row->difference == Difference::faster && row->cost_us > 0
                        ? "a call takes less, and all calls of a step take more"
                        : fmt::format("makes less than {:g}% of a step", 100 * thresholds_["min_step_share"]);
      row->difference = Difference::unknown;
    }
  }

  /// Many ops that each take too little to be told from chance may take much together. Where single ones say it, all
  /// of them together say nothing new.
  void judge_work() {
    judge({TimeKind::work}, {limits_.min_ratio, 0});
    for (TimeRow* const row : judged({TimeKind::work})) {
      if (row->difference != Difference::slower && row->difference != Difference::faster) continue;
      const bool is_known = std::any_of(rows_.begin(), rows_.end(), [&](const TimeRow& other) {
        return other.kind == TimeKind::op && other.subject == row->subject && other.difference == row->difference;
      });
      if (!is_known && costs_enough(*row)) continue;
      row->difference = Difference::unknown;
      row->reason = is_known ? "its ops say so one by one"
                             : fmt::format("makes less than {:g}% of a step", 100 * thresholds_["min_step_share"]);
    }
  }

  void add_work(TimeRow row, const AlignedIterator& iterator) {
    row.kind = TimeKind::work;
    const ReadIterator reading = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
      if (static_cast<double>(run.iterators[index].calls) < thresholds_["min_calls"]) return std::nullopt;
      return function_work_us(run, index);
    };
    read_both(row, iterator, reading);
    finish(row, iterator, {median(row.base), median(row.candidate)});
    if (row.base.empty() || row.candidate.empty()) return;
    row.cost_us = row.candidate_median - row.base_median;
    row.longer_step = longer_step(iterator, /*is_in_function=*/true, row.cost_us);
    if (has_other_calls(iterator)) {
      row.is_judged = false;
      row.needed.reset();
      row.reason = "a step calls it another number of times, as follows from what else changed";
    }
    std::set<std::string> ops = ops_of(iterator);
    for (const OpSummary& op : iterator.candidate->function_ops) ops.insert(op.op);
    bool is_other_work = false;
    for (const std::string& op : ops) {
      const std::optional<OpCallsChange> change = change_of_op_calls(runs_, iterator, op, thresholds_);
      is_other_work = is_other_work || change || find_function_op(*iterator.base, op) == nullptr ||
                      find_function_op(*iterator.candidate, op) == nullptr;
      if (change && !change->is_short) has_other_ops_.insert(row.subject);
    }
    if (is_other_work) {
      row.is_judged = false;
      row.needed.reset();
      row.reason = kOtherWork;
    }
    rows_.push_back(std::move(row));
  }

  /// An op whose input another op made may find it nearer, or smaller: the change is told, and gains nothing by itself.
  void drop_gains_of_other_ops() {
    for (TimeRow* const row : judged({TimeKind::self, TimeKind::op})) {
      if (row->difference != Difference::faster || !has_other_ops_.contains(row->subject)) continue;
      row->difference = Difference::unknown;
      row->reason = kOtherWork;
    }
  }

  void read_both(TimeRow& row, const AlignedIterator& iterator, const ReadIterator& reading) const {
    Readings base = read_each(runs_.base_runs, iterator.in_base, reading);
    Readings candidate = read_each(runs_.candidate_runs, iterator.in_candidate, reading);
    row.min_ratio = session_floor(conditions_.sessions, base, candidate, thresholds_);
    row.base = std::move(base.values);
    row.candidate = std::move(candidate.values);
  }

  /// Counts are the same everywhere; a machine has its own tails.
  bool may_cross_machines(TimeKind kind) const {
    return kind == TimeKind::calls || (conditions_.is_across_machines && kind != TimeKind::tail);
  }

  /// What all rows have in common.
  void finish(TimeRow& row, const AlignedIterator& iterator, const Work& work) const {
    compare_readings(row);
    const std::size_t fewest = std::min(row.base.size(), row.candidate.size());
    const double share = std::max(base_work_ > 0 ? work.base / base_work_ : 0,
                                  candidate_work_ > 0 ? work.candidate / candidate_work_ : 0);
    const bool is_same_work =
        row.kind == TimeKind::calls ? has_like_steps(runs_, iterator, iterator) : has_like_calls(runs_, iterator);
    if (!is_same_work) {
      row.reason = row.kind == TimeKind::calls ? "a step makes a batch of another size"
                                               : "a call of it makes a batch of another size";
    } else if (conditions_.is_other_machine && !may_cross_machines(row.kind)) {
      row.reason = kOtherMachine;
    } else if (share < thresholds_["min_share"]) {
      row.reason = fmt::format("less than {:g}% of the pipeline's work", 100 * thresholds_["min_share"]);
    } else if (fewest < limits_.needed_count) {
      const std::size_t recordings = std::min(runs_.base_runs.size(), runs_.candidate_runs.size());
      row.reason = recordings < limits_.needed_count ? "too few recordings" : "too few calls of it in the recordings";
      row.needed = recordings < limits_.needed_count ? std::optional(limits_.needed_count) : std::nullopt;
    } else {
      row.is_judged = true;
    }
  }

  void add_rows(const AlignedIterator& iterator) {
    TimeRow row;
    row.subject = iterator.base->long_name;
    row.words = iterator.base->words;
    if (iterator.base->self.count > 0 || iterator.candidate->self.count > 0) {
      add_durations(row, iterator,
                    [](const IteratorSummary& summary) { return summary.self.count > 0 ? &summary.self : nullptr; });
    }
    row.kind = TimeKind::op;
    for (const std::string& op : ops_of(iterator)) {
      row.op = op;
      add_durations(row, iterator, [&op](const IteratorSummary& summary) { return find_op(summary, op); });
    }
    row.op.clear();
    if (!iterator.base->function_ops.empty() && !iterator.candidate->function_ops.empty()) add_work(row, iterator);
    add_calls(row, iterator);
  }

  /// Types of op that both sides run in the iterator's functions.
  std::set<std::string> ops_of(const AlignedIterator& iterator) const {
    std::set<std::string> ops;
    for (std::size_t recording = 0; recording < runs_.base_runs.size(); ++recording) {
      if (iterator.in_base[recording] == kNoIndex) continue;
      for (const OpSummary& op : runs_.base_runs[recording].iterators[iterator.in_base[recording]].function_ops) {
        ops.insert(op.op);
      }
    }
    return ops;
  }

  /// Whether a step calls the iterator another number of times because something else changed, which is told: a map and
  /// its batch are one iterator or two, or the base kept its elements in a cache that is gone.
  bool has_other_calls(const AlignedIterator& iterator) const {
    if (is_map_and_batch(*iterator.base) != is_map_and_batch(*iterator.candidate)) return true;
    for (std::size_t above = iterator.base->parent; above != kNoIndex; above = runs_.base->iterators[above].parent) {
      const bool is_cache = dataset_kind(runs_.base->iterators[above].kind).has(Trait::cache);
      if (is_cache && runs_.iterators[above].is_gone()) return true;
    }
    return false;
  }

  void add_calls(TimeRow row, const AlignedIterator& iterator) {
    if (has_other_calls(iterator)) return;
    row.kind = TimeKind::calls;
    const ReadIterator calls = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
      if (static_cast<double>(run.iterators[index].calls) < thresholds_["min_calls"]) return std::nullopt;
      return calls_per_step(run, index);
    };
    row.base = read_all(runs_.base_runs, iterator.in_base, calls);
    row.candidate = read_all(runs_.candidate_runs, iterator.in_candidate, calls);
    const Work work = {work_per_step_us(*runs_.base, iterator.base_index),
                       work_per_step_us(*runs_.candidate, iterator.candidate_index)};
    finish(row, iterator, work);
    row.cost_us = work.candidate - (row.ratio() > 0 ? work.candidate / row.ratio() : work.candidate);
    rows_.push_back(std::move(row));
  }

  /// Where the machine may have changed, its pace is taken out of the rows before they are judged.
  Pace follow_pace() {
    if (conditions_.sessions.share_sittings && !conditions_.is_other_machine) return {};
    const std::vector<TimeRow*> family = judged({TimeKind::self, TimeKind::op});
    const std::vector<const TimeRow*> rows(family.begin(), family.end());
    const Pace pace =
        conditions_.is_other_machine ? pace_of_machine(rows, thresholds_) : pace_of_hour(rows, thresholds_);
    for (TimeRow* const row : judged({TimeKind::self, TimeKind::op, TimeKind::work})) {
      row->pace = pace.ratio;
      row->min_ratio = std::max(row->min_ratio, pace.floor);
      compare_readings(*row);
      if (pace.is_known) continue;
      row->is_judged = false;
      row->reason = "recorded on another machine, and there are too few rows to know its pace";
    }
    return pace;
  }

  std::vector<TimeRow*> judged(const std::set<TimeKind>& kinds) {
    std::vector<TimeRow*> family;
    for (TimeRow& row : rows_) {
      if (row.is_judged && kinds.contains(row.kind)) family.push_back(&row);
    }
    return family;
  }

  void judge(const std::set<TimeKind>& kinds, const Floor& floor) { judge_rows(judged(kinds), floor, limits_); }

  const AlignedRuns& runs_;
  const TimeConditions& conditions_;
  const TimeLimits& limits_;
  const ThresholdValues& thresholds_;
  double base_work_ = 0;  ///< microseconds for each step, of all iterators
  double candidate_work_ = 0;
  std::vector<TimeRow> rows_;
  std::set<std::string> has_other_ops_;  ///< iterators whose function runs other ops, or another number of them
};

}  // namespace

ComparedTimes compare_times(const AlignedRuns& runs, const TimeConditions& conditions, const TimeLimits& limits,
                            const ThresholdValues& thresholds) {
  return TimeComparer(runs, conditions, limits, thresholds).compare();
}

}  // namespace doctor
