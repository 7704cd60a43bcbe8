#include "compare/history.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/ranks.h"
#include "compare/change_points.h"
#include "compare/op_calls.h"
#include "compare/step_model.h"
#include "compare/structure_changes.h"
#include "compare/tree_alignment.h"

namespace doctor {
namespace {

/// Parts of a pipeline that are followed: those that work most.
constexpr std::size_t kMostParts = 30;

using ReadRun = std::function<std::optional<double>(const RunSummary&)>;

/// Whether two neighbours were recorded together, of one version.
bool belong_together(const StoredRun& before, const StoredRun& after, double gap_s) {
  const RecordingFacts& first = before.summary.recording;
  const RecordingFacts& second = after.summary.recording;
  if (before.label != after.label || first.host != second.host) return false;
  if (first.recorded_ns == 0 || second.recorded_ns == 0) return !before.label.empty();
  return static_cast<double>(second.recorded_ns) - static_cast<double>(first.recorded_ns) <= gap_s * 1e9;
}

/// The number of the entry that each run belongs to.
std::vector<std::size_t> group_runs(std::span<const StoredRun* const> runs, double gap_s,
                                    std::vector<HistoryEntry>& entries) {
  std::vector<std::size_t> entry_of;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const RecordingFacts& facts = runs[run]->summary.recording;
    if (run == 0 || !belong_together(*runs[run - 1], *runs[run], gap_s)) {
      entries.push_back({runs[run]->label, facts.host, facts.recorded_ns, 0});
    }
    ++entries.back().recordings;
    entry_of.push_back(entries.size() - 1);
  }
  return entry_of;
}

std::optional<double> median_us(const RunSummary& run, DurationStatistics PipelineSummary::*part) {
  const PipelineSummary* const pipeline = slowest_pipeline(run, /*has_root=*/false);
  return pipeline == nullptr ? std::nullopt : std::optional(to_microseconds((pipeline->*part).median));
}

double part_work_us(const RunSummary& run, std::size_t iterator) {
  return iterator_work_us(run, iterator);
}

std::optional<double> pipeline_work_if_known_us(const RunSummary& run) {
  return run.iterators.empty() ? std::nullopt : std::optional(pipeline_work_us(run));
}

class HistoryBuilder {
 public:
  HistoryBuilder(std::span<const StoredRun> runs, const ThresholdValues& thresholds) : thresholds_(thresholds) {
    for (const StoredRun& run : runs) {
      if (!run.summary.is_torn) runs_.push_back(&run);
    }
    // Those that say when they were made in that order, others where they were added.
    const bool know_times = std::all_of(runs_.begin(), runs_.end(),
                                        [](const StoredRun* run) { return run->summary.recording.recorded_ns != 0; });
    if (know_times) {
      std::stable_sort(runs_.begin(), runs_.end(), [](const StoredRun* a, const StoredRun* b) {
        return a->summary.recording.recorded_ns < b->summary.recording.recorded_ns;
      });
    }
    entry_of_ = group_runs(runs_, thresholds["sitting_gap"], history_.entries);
  }

  History build() {
    if (runs_.empty()) return {};
    add(HistoryMetric::step, "step", {}, [](const RunSummary& run) { return median_us(run, &PipelineSummary::step); });
    add(HistoryMetric::get_next, "GetNext", {},
        [](const RunSummary& run) { return median_us(run, &PipelineSummary::get_next); });
    add(HistoryMetric::work, "all work of a step", {}, pipeline_work_if_known_us);
    add_parts();
    return std::move(history_);
  }

 private:
  void add(HistoryMetric metric, std::string words, std::optional<SourceLine> source, const ReadRun& reading) {
    HistorySeries series{metric, std::move(words), std::move(source), {}, {}};
    std::vector<std::vector<double>> readings(history_.entries.size());
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (const std::optional<double> value = reading(runs_[run]->summary)) readings[entry_of_[run]].push_back(*value);
    }
    for (const std::vector<double>& values : readings) {
      series.values.push_back(values.empty() ? std::nullopt : std::optional(median(values)));
    }
    find_changes(series);
    history_.series.push_back(std::move(series));
  }

  void find_changes(HistorySeries& series) const {
    std::vector<double> values;
    std::vector<std::size_t> entries;
    for (std::size_t entry = 0; entry < series.values.size(); ++entry) {
      if (!series.values[entry] || *series.values[entry] <= 0) continue;
      values.push_back(*series.values[entry]);
      entries.push_back(entry);
    }
    for (const SeriesChange& change :
         changes_of(values, thresholds_["history_significance"], thresholds_["min_ratio"])) {
      series.changes.push_back({entries[change.at], change.before, change.after});
    }
  }

  /// Of the last recording's iterators, in all others.
  void add_parts() {
    const RunSummary& last = runs_.back()->summary;
    std::vector<std::vector<std::size_t>> partners;  // indexed by run, then by iterator of the last one
    for (const StoredRun* const run : runs_)
      partners.push_back(align_iterators(last.iterators, run->summary.iterators));
    std::vector<std::pair<double, std::size_t>> dearest;
    for (std::size_t iterator = 0; iterator < last.iterators.size(); ++iterator) {
      if (const double work = part_work_us(last, iterator); work > 0) dearest.emplace_back(work, iterator);
    }
    std::stable_sort(dearest.begin(), dearest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    dearest.resize(std::min(dearest.size(), kMostParts));
    for (const auto& [work, iterator] : dearest) {
      const std::size_t place = iterator;
      const IteratorSummary& summary = last.iterators[place];
      add_part(HistoryMetric::iterator_work, summary.words, summary.source, partners, place, part_work_us);
      for (const OpSummary& op : summary.function_ops) {
        if (static_cast<double>(op.durations.count) < thresholds_["min_calls"]) continue;
        add_part(HistoryMetric::op_work, op.op + " in " + summary.words, summary.source, partners, place,
                 [&op](const RunSummary& run, std::size_t at) { return work_of(run, at, op.op); });
      }
    }
  }

  static double work_of(const RunSummary& run, std::size_t iterator, std::string_view op) {
    const OpSummary* const found = find_function_op(run.iterators[iterator], op);
    const std::uint64_t calls = run.iterators[iterator].calls;
    if (found == nullptr || calls == 0) return 0;
    return to_microseconds(found->durations.p25) * static_cast<double>(found->durations.count) /
           static_cast<double>(calls) * steady_calls_per_step(run, iterator);
  }

  void add_part(HistoryMetric metric, const std::string& words, const std::optional<SourceLine>& source,
                const std::vector<std::vector<std::size_t>>& partners, std::size_t iterator,
                const std::function<double(const RunSummary&, std::size_t)>& work) {
    std::size_t run = 0;  // add() reads them in order
    add(metric, words, source, [&](const RunSummary& summary) -> std::optional<double> {
      const std::size_t at = partners[run++][iterator];
      return at == kNoIndex ? std::nullopt : std::optional(work(summary, at));
    });
  }

  const ThresholdValues& thresholds_;
  std::vector<const StoredRun*> runs_;
  std::vector<std::size_t> entry_of_;
  History history_;
};

}  // namespace

History history_of(std::span<const StoredRun> runs, const ThresholdValues& thresholds) {
  return HistoryBuilder(runs, thresholds).build();
}

}  // namespace doctor
