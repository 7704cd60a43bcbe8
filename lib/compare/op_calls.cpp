#include "compare/op_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/ranks.h"
#include "compare/iterator_settings.h"
#include "compare/structure_changes.h"

namespace doctor {
namespace {

/// Standard errors that means must be apart where calls vary: 1 in 30,000 by chance, and a function has dozens of ops.
constexpr double kErrorsApart = 4;

/// Quartiles that are apart by less differ as loops of random length do.
constexpr double kQuartilesApart = 1.05;

/// How much more uneven calls must be than those of the base to be of other sizes.
constexpr double kMoreUneven = 1.5;

/// How often the function calls an op in one recording.
struct CallsReading {
  double low = 0;
  double high = 0;
  double mean = 0;
  double count = 0;  ///< calls that `mean` rests on
};

/// The same over the recordings of a side.
struct CallsRange {
  double low = std::numeric_limits<double>::max();
  double high = 0;
  double low_mean = std::numeric_limits<double>::max();
  double high_mean = 0;
  double typical = 0;
  double least_count = std::numeric_limits<double>::max();
  bool has_quartiles = true;
};

/// Runs of the function that were counted; 0 where that is not known.
std::uint64_t counted_runs(const IteratorSummary& iterator) {
  std::uint64_t runs = 0;
  for (const OpSummary& op : iterator.function_ops) runs = std::max(runs, op.per_run.runs);
  return runs;
}

/// Elements that go through the function in one call of the iterator: a map and its batch in one runs it for each.
double runs_of_call(const IteratorSummary& iterator) {
  return is_map_and_batch(iterator) ? static_cast<double>(batch_size_of(iterator).value_or(1)) : 1;
}

CallsReading read_calls(const IteratorSummary& iterator, std::string_view op, bool by_run) {
  const OpSummary* const found = find_function_op(iterator, op);
  if (found == nullptr) return {};
  const auto count = static_cast<double>(found->durations.count);
  if (!by_run) {
    const double runs = static_cast<double>(iterator.calls) * runs_of_call(iterator);
    const double mean = runs > 0 ? count / runs : 0;
    return {mean, mean, mean, count};
  }
  return {static_cast<double>(found->per_run.low), static_cast<double>(found->per_run.high), found->per_run.mean(),
          static_cast<double>(found->per_run.total)};
}

/// nullopt where a recording lacks the iterator or has too few runs of its function.
std::optional<CallsRange> range_of_calls(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices,
                                         std::string_view op, bool by_run, double min_calls) {
  CallsRange range;
  range.has_quartiles = by_run;
  std::vector<double> means;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) return std::nullopt;
    const IteratorSummary& iterator = runs[recording].iterators[indices[recording]];
    const double counted = by_run ? static_cast<double>(counted_runs(iterator))
                                  : static_cast<double>(iterator.calls) * runs_of_call(iterator);
    if (counted < min_calls) return std::nullopt;
    const CallsReading reading = read_calls(iterator, op, by_run);
    range.low = std::min(range.low, reading.low);
    range.high = std::max(range.high, reading.high);
    range.low_mean = std::min(range.low_mean, reading.mean);
    range.high_mean = std::max(range.high_mean, reading.mean);
    range.least_count = std::min(range.least_count, reading.count);
    means.push_back(by_run && reading.low == reading.high ? reading.low : reading.mean);
  }
  range.typical = median(means);
  return range;
}

/// Whether every recording of `more` has more calls than any of `less`.
bool is_above(const CallsRange& less, const CallsRange& more, double min_ratio) {
  if (less.has_quartiles && more.has_quartiles && less.high < more.low &&
      more.low_mean > kQuartilesApart * less.high_mean) {
    return true;
  }
  if (more.low_mean <= 0 || less.high_mean <= 0) return false;
  const double error = std::sqrt(1 / std::max(less.least_count, 1.0) + 1 / std::max(more.least_count, 1.0));
  return more.low_mean >= min_ratio * less.high_mean && std::log(more.low_mean / less.high_mean) > kErrorsApart * error;
}

bool know_runs(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices) {
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) return false;
    if (counted_runs(runs[recording].iterators[indices[recording]]) == 0) return false;
  }
  return true;
}

double mean_us(const DurationStatistics& durations) {
  return to_microseconds(durations.total) / static_cast<double>(durations.count);
}

double work_of_calls(const IteratorSummary& iterator, std::string_view op, double calls, bool by_mean) {
  const OpSummary* const found = find_function_op(iterator, op);
  if (found == nullptr || found->durations.count == 0) return 0;
  return calls * (by_mean ? mean_us(found->durations) : to_microseconds(found->durations.p25));
}

/// How much longer calls take than those that nothing held up: by chance, or as they are about larger and smaller
/// things. 1 where the op does not run.
double unevenness(const IteratorSummary& iterator, std::string_view op) {
  const OpSummary* const found = find_function_op(iterator, op);
  if (found == nullptr || found->durations.count == 0 || found->durations.p25 == 0) return 1;
  return work_us(found->durations) / static_cast<double>(found->durations.count) /
         to_microseconds(found->durations.p25);
}

}  // namespace

const OpSummary* find_function_op(const IteratorSummary& iterator, std::string_view op) {
  const auto found = std::find_if(iterator.function_ops.begin(), iterator.function_ops.end(),
                                  [&](const OpSummary& candidate) { return candidate.op == op; });
  return found == iterator.function_ops.end() ? nullptr : &*found;
}

std::optional<OpCallsChange> change_of_op_calls(const AlignedRuns& runs, const AlignedIterator& iterator,
                                                std::string_view op, const ThresholdValues& thresholds) {
  if (iterator.is_new() || iterator.is_gone() || !has_like_calls(runs, iterator)) return std::nullopt;
  const bool by_run =
      know_runs(runs.base_runs, iterator.in_base) && know_runs(runs.candidate_runs, iterator.in_candidate);
  const double min_calls = thresholds["min_calls"];
  const auto before = range_of_calls(runs.base_runs, iterator.in_base, op, by_run, min_calls);
  const auto after = range_of_calls(runs.candidate_runs, iterator.in_candidate, op, by_run, min_calls);
  if (!before || !after) return std::nullopt;
  const double min_ratio = thresholds["op_calls_min_ratio"];
  if (!is_above(*before, *after, min_ratio) && !is_above(*after, *before, min_ratio)) return std::nullopt;
  OpCallsChange change{before->typical, after->typical};
  if (!has_like_steps(runs, iterator, iterator)) return change;
  const double runs_before = function_runs_per_step(*runs.base, iterator.base_index);
  const double runs_after = function_runs_per_step(*runs.candidate, iterator.candidate_index);
  return OpCallsChange{change.before * runs_before, change.after * runs_after, true};
}

OpWork work_of_op(const AlignedRuns& runs, const AlignedIterator& iterator, std::string_view op,
                  const OpCallsChange& change) {
  const double before =
      change.is_by_step ? change.before : change.before * function_runs_per_step(*runs.base, iterator.base_index);
  const double after = change.is_by_step
                           ? change.after
                           : change.after * function_runs_per_step(*runs.candidate, iterator.candidate_index);
  const auto work = [&](bool by_mean) {
    return OpWork{work_of_calls(*iterator.base, op, before, by_mean),
                  work_of_calls(*iterator.candidate, op, after, by_mean)};
  };
  const OpWork undisturbed = work(false);
  if (change.after < change.before) return undisturbed;
  // The calls that came may be larger than those that were there.
  const bool is_uneven =
      unevenness(*iterator.candidate, op) > kMoreUneven * std::max(1.0, unevenness(*iterator.base, op));
  if (undisturbed.added_us() > 0 && !is_uneven) return undisturbed;
  const OpWork mean = work(true);
  return mean.added_us() > undisturbed.added_us() ? mean : undisturbed;
}

}  // namespace doctor
