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

/// Calls of an op that one side would show if it called it as often as the other: fewer may be none by chance, 1 in
/// 30,000.
constexpr double kCallsToMiss = 10.3;

/// What calls that only some runs show must take, in multiples of a short call, to be branches and not partly recorded.
constexpr double kLongestPartly = 4;

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
  double least_runs = std::numeric_limits<double>::max();  ///< of the function
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
    range.least_runs = std::min(range.least_runs, counted);
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
  if (more.low_mean <= 0) return false;
  if (less.high_mean <= 0) return more.low_mean * less.least_runs >= kCallsToMiss;
  const double error = std::sqrt(1 / std::max(less.least_count, 1.0) + 1 / std::max(more.least_count, 1.0));
  return more.low_mean >= min_ratio * less.high_mean && std::log(more.low_mean / less.high_mean) > kErrorsApart * error;
}

/// What a call of the op takes, in microseconds; 0 where it is not called.
double call_us(const IteratorSummary& iterator, std::string_view op, CallTime time = CallTime::undisturbed) {
  const OpSummary* const found = find_function_op(iterator, op);
  return found == nullptr ? 0 : call_time_us(found->durations, time);
}

/// Whether every recording of a side shows an op in the iterator's functions whose calls are as short: TF records short
/// ones until it knows that they are, so a recording has all of them or none.
bool shows_as_short(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices, std::string_view op,
                    double call) {
  constexpr double kAsShort = 1.25;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    const std::vector<OpSummary>& ops = runs[recording].iterators[indices[recording]].function_ops;
    const bool has_one = std::any_of(ops.begin(), ops.end(), [&](const OpSummary& other) {
      return other.op != op && to_microseconds(other.durations.median) <= kAsShort * call;
    });
    if (!has_one) return false;
  }
  return true;
}

/// Whether some runs show a call that others lack: of branches, or of calls that are about as long as TF records.
bool is_partly_recorded(const CallsPerRun& calls) {
  constexpr double kCutByWindow = 0.05;
  return calls.runs > 0 && (calls.low != calls.high ||
                            std::abs(calls.mean() - static_cast<double>(calls.low)) > kCutByWindow * calls.mean());
}

/// Whether the calls that one side lacks may have been too short for TF to record.
bool may_be_unrecorded(const AlignedRuns& runs, const AlignedIterator& iterator, std::string_view op, bool is_more,
                       const ThresholdValues& thresholds) {
  const OpSummary* const more = find_function_op(is_more ? *iterator.candidate : *iterator.base, op);
  const OpSummary* const less = find_function_op(is_more ? *iterator.base : *iterator.candidate, op);
  const double call = more == nullptr ? 0 : to_microseconds(more->durations.median);
  const auto is_partly = [](const OpSummary* one) { return one != nullptr && is_partly_recorded(one->per_run); };
  if (is_partly(more) || is_partly(less)) return call < kLongestPartly * thresholds["short_call"];
  if (call >= thresholds["short_call"]) return false;
  return is_more ? !shows_as_short(runs.base_runs, iterator.in_base, op, call)
                 : !shows_as_short(runs.candidate_runs, iterator.in_candidate, op, call);
}

bool know_runs(std::span<const RunSummary> runs, const std::vector<std::size_t>& indices) {
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) return false;
    if (counted_runs(runs[recording].iterators[indices[recording]]) == 0) return false;
  }
  return true;
}

/// Whether a run of the function is about as many elements on both sides.
bool has_like_runs(const AlignedRuns& runs, const AlignedIterator& iterator) {
  // The function of a map and its batch in one runs for each element, however large the batch is.
  return has_like_calls(runs, iterator) || (is_map_and_batch(*iterator.base) && is_map_and_batch(*iterator.candidate));
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
  if (iterator.is_new() || iterator.is_gone() || !has_like_runs(runs, iterator)) return std::nullopt;
  const bool by_run =
      know_runs(runs.base_runs, iterator.in_base) && know_runs(runs.candidate_runs, iterator.in_candidate);
  const double min_calls = thresholds["min_calls"];
  const auto before = range_of_calls(runs.base_runs, iterator.in_base, op, by_run, min_calls);
  const auto after = range_of_calls(runs.candidate_runs, iterator.in_candidate, op, by_run, min_calls);
  if (!before || !after) return std::nullopt;
  const double min_ratio = thresholds["op_calls_min_ratio"];
  if (!is_above(*before, *after, min_ratio) && !is_above(*after, *before, min_ratio)) return std::nullopt;
  OpCallsChange change{before->typical, after->typical};
  change.is_short = may_be_unrecorded(runs, iterator, op, change.after > change.before, thresholds);
  if (!has_like_steps(runs, iterator, iterator)) return change;
  change.before *= function_runs_per_step(*runs.base, iterator.base_index);
  change.after *= function_runs_per_step(*runs.candidate, iterator.candidate_index);
  change.is_by_step = true;
  return change;
}

OpWork work_of_op(const AlignedRuns& runs, const AlignedIterator& iterator, std::string_view op,
                  const OpCallsChange& change) {
  // Where steps of the candidate make other elements, its work counts for a step of the base.
  const double runs_of_step = change.is_by_step ? 1 : function_runs_per_step(*runs.base, iterator.base_index);
  const double before = change.before * runs_of_step;
  const double after = change.after * runs_of_step;
  const auto work = [&](CallTime time) {
    return OpWork{before * call_us(*iterator.base, op, time), after * call_us(*iterator.candidate, op, time), time};
  };
  const OpWork undisturbed = work(CallTime::undisturbed);
  if (change.after < change.before) {
    // The calls that went may have been the small ones, so that a call that is left takes longer than one did.
    return {undisturbed.before_us, std::min(undisturbed.before_us, undisturbed.after_us), CallTime::undisturbed};
  }
  // The calls that came may be larger than those that were there.
  const bool is_uneven =
      unevenness(*iterator.candidate, op) > kMoreUneven * std::max(1.0, unevenness(*iterator.base, op));
  if (undisturbed.added_us() > 0 && !is_uneven) return undisturbed;
  const OpWork mean = work(CallTime::mean);
  return mean.added_us() > undisturbed.added_us() ? mean : undisturbed;
}

}  // namespace doctor
