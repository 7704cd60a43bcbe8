#include "compare/time_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compare/op_calls.h"
#include "compare/row_judge.h"
#include "compare/structure_changes.h"

namespace doctor {
namespace {

const DurationStatistics* find_op(const IteratorSummary& iterator, std::string_view op) {
  const OpSummary* const found = find_function_op(iterator, op);
  return found == nullptr ? nullptr : &found->durations;
}

/// A number of one iterator in one recording; nullopt where the recording has too little of it.
using Reading = std::function<std::optional<double>(const RunSummary&, std::size_t iterator)>;

std::vector<double> read_all(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices,
                             const Reading& reading) {
  std::vector<double> values;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) continue;
    if (const std::optional<double> value = reading(runs[recording], indices[recording])) values.push_back(*value);
  }
  return values;
}

/// The durations of an iterator that a row is about; null where it has none.
using FindDurations = std::function<const DurationStatistics*(const IteratorSummary&)>;

/// What a row is of the pipeline's work: microseconds for each step.
struct Work {
  double base = 0;
  double candidate = 0;
};

class TimeComparer {
 public:
  TimeComparer(const AlignedRuns& runs, const TimeLimits& limits, const ThresholdValues& thresholds)
      : runs_(runs), limits_(limits), thresholds_(thresholds) {}

  std::vector<TimeRow> compare() {
    if (runs_.base == nullptr || runs_.candidate == nullptr) return {};
    for (const RunSummary* const run : {runs_.base, runs_.candidate}) {
      double& all = run == runs_.base ? base_work_ : candidate_work_;
      for (std::size_t index = 0; index < run->iterators.size(); ++index) all += work_per_step_us(*run, index);
    }
    for (const AlignedIterator& iterator : runs_.iterators) {
      if (!iterator.is_new() && !iterator.is_gone()) add_rows(iterator);
    }
    judge({TimeKind::self, TimeKind::op}, {limits_.min_ratio, 0});
    judge({TimeKind::calls}, {thresholds_["calls_min_ratio"], 0});
    judge({TimeKind::tail}, {1, thresholds_["tail_min_share"]});
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const TimeRow& a, const TimeRow& b) { return std::abs(a.cost_us) > std::abs(b.cost_us); });
    return std::move(rows_);
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
    row.cost_us = (row.candidate_median - row.base_median) * count_per_step(*runs_.candidate, iterator, find);
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
    tail.cost_us = tail.candidate_median * work.candidate - tail.base_median * work.base;
    rows_.push_back(std::move(tail));
  }

  /// Where there are more calls, a call that takes less gains nothing: the work counts, and the change of calls is told
  /// by itself.
  static void say_other_calls(TimeRow& row, const OpCallsChange& change, const OpWork& work) {
    row.is_judged = false;
    row.needed.reset();
    row.cost_us = work.added_us();
    row.reason = fmt::format("it is called {} for the same elements, so the times of a call are not compared",
                             change.after > change.before ? "more often" : "less often");
  }

  /// One number of the durations, in every recording that has enough of them.
  void read_durations(TimeRow& row, const AlignedIterator& iterator, const FindDurations& find,
                      const std::function<double(const DurationStatistics&)>& number) const {
    const Reading reading = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
      const DurationStatistics* const durations = find(run.iterators[index]);
      const bool is_enough = durations != nullptr && static_cast<double>(durations->count) >= thresholds_["min_calls"];
      return is_enough ? std::optional(number(*durations)) : std::nullopt;
    };
    row.base = read_all(runs_.base_runs, iterator.in_base, reading);
    row.candidate = read_all(runs_.candidate_runs, iterator.in_candidate, reading);
  }

  static Reading work_of(const FindDurations& find) {
    return [&find](const RunSummary& run, std::size_t index) -> std::optional<double> {
      const DurationStatistics* const durations = find(run.iterators[index]);
      if (durations == nullptr) return std::nullopt;
      const auto calls = static_cast<double>(run.iterators[index].calls);
      return calls == 0 ? 0 : to_microseconds(durations->total) / calls * calls_per_step(run, index);
    };
  }

  static double count_per_step(const RunSummary& run, const AlignedIterator& iterator, const FindDurations& find) {
    const IteratorSummary& summary = run.iterators[iterator.candidate_index];
    const DurationStatistics* const durations = find(summary);
    if (durations == nullptr || summary.calls == 0) return 0;
    return static_cast<double>(durations->count) / static_cast<double>(summary.calls) *
           calls_per_step(run, iterator.candidate_index);
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
    } else if (share < thresholds_["min_share"]) {
      row.reason = fmt::format("less than {:g} % of the pipeline's work", 100 * thresholds_["min_share"]);
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

  void add_calls(TimeRow row, const AlignedIterator& iterator) {
    row.kind = TimeKind::calls;
    const Reading calls = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
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

  void judge(const std::set<TimeKind>& kinds, const Floor& floor) {
    std::vector<TimeRow*> family;
    for (TimeRow& row : rows_) {
      if (row.is_judged && kinds.contains(row.kind)) family.push_back(&row);
    }
    judge_rows(family, floor, limits_);
  }

  const AlignedRuns& runs_;
  const TimeLimits& limits_;
  const ThresholdValues& thresholds_;
  double base_work_ = 0;  ///< microseconds for each step, of all iterators
  double candidate_work_ = 0;
  std::vector<TimeRow> rows_;
};

}  // namespace

std::vector<TimeRow> compare_times(const AlignedRuns& runs, const TimeLimits& limits,
                                   const ThresholdValues& thresholds) {
  return TimeComparer(runs, limits, thresholds).compare();
}

}  // namespace doctor
