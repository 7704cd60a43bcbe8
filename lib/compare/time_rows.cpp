#include "compare/time_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compare/structure_changes.h"

namespace doctor {
namespace {

/// A p-value that equals a threshold on paper may miss it by the last bit.
constexpr double kRounding = 1e-9;

const DurationStatistics* find_op(const IteratorSummary& iterator, std::string_view op) {
  const auto found = std::find_if(iterator.function_ops.begin(), iterator.function_ops.end(),
                                  [&](const OpSummary& candidate) { return candidate.op == op; });
  return found == iterator.function_ops.end() ? nullptr : &found->durations;
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

void compare_values(TimeRow& row) {
  row.base_median = median_of(row.base);
  row.candidate_median = median_of(row.candidate);
  row.p_value = mann_whitney_above(row.base, row.candidate);
  const auto is_positive = [](double value) { return value > 0; };
  const bool have_ratios = std::all_of(row.base.begin(), row.base.end(), is_positive) &&
                           std::all_of(row.candidate.begin(), row.candidate.end(), is_positive);
  if (have_ratios && row.kind != TimeKind::tail) row.interval = ratio_interval(row.base, row.candidate);
}

/// The effect from which a row counts as different, in its own measure.
struct Floor {
  double ratio = 1;     ///< candidate / base
  double increase = 0;  ///< candidate - base
};

bool is_above(const Floor& floor, double base, double candidate) {
  return candidate > floor.ratio * base && candidate - base > floor.increase;
}

class RowJudge {
 public:
  explicit RowJudge(const TimeLimits& limits) : limits_(limits) {}

  /// Says what the difference is. Rows that are judged must come together, for their number counts.
  void judge(std::vector<TimeRow*>& family, const Floor& floor) const {
    std::vector<double> slower;
    std::vector<double> faster;
    for (TimeRow* const row : family) {
      slower.push_back(row->p_value);
      faster.push_back(mann_whitney_above(row->candidate, row->base));
    }
    const std::vector<double> adjusted_slower = holm_adjusted(slower);
    const std::vector<double> adjusted_faster = holm_adjusted(faster);
    for (std::size_t index = 0; index < family.size(); ++index) {
      TimeRow& row = *family[index];
      row.adjusted_p_value = adjusted_slower[index];
      const bool is_slower = is_significant(slower[index], adjusted_slower[index]);
      const bool is_faster = is_significant(faster[index], adjusted_faster[index]);
      if (is_slower && is_above(floor, row.base_median, row.candidate_median)) {
        row.difference = Difference::slower;
      } else if (is_faster && is_above(floor, row.candidate_median, row.base_median)) {
        row.difference = Difference::faster;
      } else {
        explain(row, floor, family.size());
      }
    }
  }

 private:
  bool is_significant(double p_value, double adjusted) const {
    return p_value <= limits_.significance + kRounding && adjusted <= limits_.family_significance + kRounding;
  }

  void explain(TimeRow& row, const Floor& floor, std::size_t family_size) const {
    if (row.interval && row.interval->low > 1 / floor.ratio && row.interval->high < floor.ratio) {
      row.difference = Difference::same;
      return;
    }
    const bool seems_slower = is_above(floor, row.base_median, row.candidate_median);
    const bool seems_faster = is_above(floor, row.candidate_median, row.base_median);
    if (!seems_slower && !seems_faster) {
      row.reason = "the medians differ by less than the recordings among each other";
      return;
    }
    const double above = share_above(row.base, row.candidate);
    const double level = std::min(limits_.significance, limits_.family_significance / static_cast<double>(family_size));
    row.needed = recordings_needed(seems_slower ? above : 1 - above, level);
    row.reason = "may be chance";
  }

  const TimeLimits& limits_;
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
  std::optional<double> if_enough(const DurationStatistics* durations, double value) const {
    if (durations == nullptr || static_cast<double>(durations->count) < thresholds_["min_calls"]) return std::nullopt;
    return value;
  }

  static double tail_share(const DurationStatistics& durations) {
    return durations.total > 0 ? static_cast<double>(durations.tail) / static_cast<double>(durations.total) : 0;
  }

  /// Rows about the durations that `find` finds of an iterator: what a call takes, and its tail if there is one.
  void add_durations(TimeRow row, const AlignedIterator& iterator,
                     const std::function<const DurationStatistics*(const IteratorSummary&)>& find) {
    const auto read = [&](auto number) {
      return [&, number](const RunSummary& run, std::size_t index) -> std::optional<double> {
        const DurationStatistics* const durations = find(run.iterators[index]);
        return durations == nullptr ? std::nullopt : if_enough(durations, number(*durations));
      };
    };
    const auto work = [&](const RunSummary& run, std::size_t index) -> std::optional<double> {
      const DurationStatistics* const durations = find(run.iterators[index]);
      if (durations == nullptr) return std::nullopt;
      const double calls = calls_per_step(run, index);
      const auto iterator_calls = static_cast<double>(run.iterators[index].calls);
      return iterator_calls == 0 ? 0 : to_microseconds(durations->total) * calls / iterator_calls;
    };
    const double base_work = median_of(read_all(runs_.base_runs, iterator.in_base, work));
    const double candidate_work = median_of(read_all(runs_.candidate_runs, iterator.in_candidate, work));
    const auto p25 = read([](const DurationStatistics& durations) { return to_microseconds(durations.p25); });
    row.base = read_all(runs_.base_runs, iterator.in_base, p25);
    row.candidate = read_all(runs_.candidate_runs, iterator.in_candidate, p25);
    finish(row, iterator, base_work, candidate_work);
    row.cost_us = (row.candidate_median - row.base_median) * count_per_step(*runs_.candidate, iterator, find);
    TimeRow tail = row;
    rows_.push_back(std::move(row));
    const auto share = read(tail_share);
    tail.kind = TimeKind::tail;
    tail.interval.reset();
    tail.reason.clear();
    tail.base = read_all(runs_.base_runs, iterator.in_base, share);
    tail.candidate = read_all(runs_.candidate_runs, iterator.in_candidate, share);
    const auto is_none = [](double value) { return value == 0; };
    if (std::all_of(tail.base.begin(), tail.base.end(), is_none) &&
        std::all_of(tail.candidate.begin(), tail.candidate.end(), is_none)) {
      return;
    }
    finish(tail, iterator, base_work, candidate_work);
    tail.cost_us = tail.candidate_median * candidate_work - tail.base_median * base_work;
    rows_.push_back(std::move(tail));
  }

  static double count_per_step(const RunSummary& run, const AlignedIterator& iterator,
                               const std::function<const DurationStatistics*(const IteratorSummary&)>& find) {
    const IteratorSummary& summary = run.iterators[iterator.candidate_index];
    const DurationStatistics* const durations = find(summary);
    if (durations == nullptr || summary.calls == 0) return 0;
    return static_cast<double>(durations->count) / static_cast<double>(summary.calls) *
           calls_per_step(run, iterator.candidate_index);
  }

  /// What all rows have in common. `base_work` and `candidate_work`: microseconds of the row for each step.
  void finish(TimeRow& row, const AlignedIterator& iterator, double base_work, double candidate_work) const {
    compare_values(row);
    const std::size_t fewest = std::min(row.base.size(), row.candidate.size());
    const double share = std::max(base_work_ > 0 ? base_work / base_work_ : 0,
                                  candidate_work_ > 0 ? candidate_work / candidate_work_ : 0);
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
    const double base_work = work_per_step_us(*runs_.base, iterator.base_index);
    const double candidate_work = work_per_step_us(*runs_.candidate, iterator.candidate_index);
    finish(row, iterator, base_work, candidate_work);
    row.cost_us = candidate_work - (row.ratio() > 0 ? candidate_work / row.ratio() : candidate_work);
    rows_.push_back(std::move(row));
  }

  void judge(const std::set<TimeKind>& kinds, const Floor& floor) {
    std::vector<TimeRow*> family;
    for (TimeRow& row : rows_) {
      if (row.is_judged && kinds.contains(row.kind)) family.push_back(&row);
    }
    RowJudge(limits_).judge(family, floor);
  }

  const AlignedRuns& runs_;
  const TimeLimits& limits_;
  const ThresholdValues& thresholds_;
  double base_work_ = 0;  ///< microseconds for each step, of all iterators
  double candidate_work_ = 0;
  std::vector<TimeRow> rows_;
};

/// The pipeline of a root in one recording. Without a root it is the only one of its kind.
const PipelineSummary* find_pipeline(const RunSummary& run, std::size_t root) {
  const auto found = std::find_if(run.pipelines.begin(), run.pipelines.end(),
                                  [&](const PipelineSummary& pipeline) { return pipeline.root == root; });
  return found == run.pipelines.end() ? nullptr : &*found;
}

}  // namespace

TimeLimits time_limits(const ComparisonChoice& choice, const ThresholdValues& thresholds) {
  if (!choice.is_weak) {
    return {static_cast<std::size_t>(thresholds["min_recordings"]), thresholds["min_ratio"], thresholds["significance"],
            thresholds["family_significance"]};
  }
  return {static_cast<std::size_t>(thresholds["weak_min_recordings"]), thresholds["weak_min_ratio"],
          thresholds["weak_significance"], 1};
}

std::vector<TimeRow> compare_times(const AlignedRuns& runs, const TimeLimits& limits,
                                   const ThresholdValues& thresholds) {
  return TimeComparer(runs, limits, thresholds).compare();
}

std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice,
                                       const TimeLimits& limits, const ThresholdValues& thresholds) {
  if (runs.base == nullptr || runs.candidate == nullptr) return {};
  std::vector<TimeRow> rows;
  const auto add = [&](TimeKind kind, const std::string& subject, const std::vector<std::size_t>& in_base,
                       const std::vector<std::size_t>& in_candidate, bool is_asked_for) {
    TimeRow row;
    row.kind = kind;
    row.subject = subject;
    row.words = kind == TimeKind::step ? "step" : "GetNext";
    const auto read = [&](std::span<const RunSummary> recordings, const std::vector<std::size_t>& roots) {
      std::vector<double> values;
      for (std::size_t recording = 0; recording < recordings.size(); ++recording) {
        if (!subject.empty() && roots[recording] == kNoIndex) continue;
        const PipelineSummary* const pipeline = find_pipeline(recordings[recording], roots[recording]);
        if (pipeline == nullptr) continue;
        const DurationStatistics& durations = kind == TimeKind::step ? pipeline->step : pipeline->get_next;
        if (static_cast<double>(durations.count) < thresholds["min_calls"]) continue;
        values.push_back(to_microseconds(durations.median));
      }
      return values;
    };
    row.base = read(runs.base_runs, in_base);
    row.candidate = read(runs.candidate_runs, in_candidate);
    if (row.base.empty() || row.candidate.empty()) return;
    compare_values(row);
    row.cost_us = row.candidate_median - row.base_median;
    const bool is_enough = std::min(row.base.size(), row.candidate.size()) >= limits.needed_count;
    row.is_judged = is_asked_for && is_enough;
    if (!is_asked_for) row.reason = "differs too much between like recordings, so it is not judged";
    if (!is_enough) row.reason = "too few recordings";
    std::vector<TimeRow*> family = {&row};
    if (row.is_judged) RowJudge(limits).judge(family, {thresholds["step_min_ratio"], 0});
    rows.push_back(std::move(row));
  };
  const auto add_both = [&](const std::string& subject, const std::vector<std::size_t>& in_base,
                            const std::vector<std::size_t>& in_candidate) {
    add(TimeKind::get_next, subject, in_base, in_candidate, choice.judges_get_next);
    add(TimeKind::step, subject, in_base, in_candidate, choice.judges_step);
  };
  for (const AlignedIterator& iterator : runs.iterators) {
    if (iterator.is_new() || iterator.is_gone() || iterator.base->parent != kNoIndex) continue;
    add_both(iterator.base->long_name, iterator.in_base, iterator.in_candidate);
  }
  add_both({}, std::vector<std::size_t>(runs.base_runs.size(), kNoIndex),
           std::vector<std::size_t>(runs.candidate_runs.size(), kNoIndex));
  return rows;
}

}  // namespace doctor
