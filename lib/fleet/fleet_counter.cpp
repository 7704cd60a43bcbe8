#include "fleet/fleet_counter.h"

#include "base/hash.h"
#include "base/ranks.h"
#include "compare/comparison_thresholds.h"

namespace doctor {
namespace {

/// Recordings of a pipeline that its trend is taken from. A median of that many is within some percent of that of all.
constexpr std::size_t kSampleSize = 128;

/// No trace is a year long: what a row claims beyond that is nonsense, and must not drown the others.
constexpr double kMostNanoseconds = 3.2e16;

std::int64_t to_nanoseconds(double microseconds) {
  return std::llround(std::clamp(microseconds * 1e3, 0.0, kMostNanoseconds));
}

/// Stays at the largest number there is.
void add_time(std::int64_t& sum, std::int64_t time) {
  if (__builtin_add_overflow(sum, time, &sum)) sum = INT64_MAX;
}

/// The time of the trace that is over sooner with a gain: never more than was lost.
std::int64_t saved_time(const TraceRow& row, double gain) {
  if (!(gain > 1)) return 0;
  return std::min(to_nanoseconds(row.window_us * (1 - 1 / gain)), to_nanoseconds(row.input_lost_us));
}

FleetSaving saving_of(const TraceRow& row) {
  if (!row.best_gain) return {};
  const double low = std::min(row.best_gain_low.value_or(1), *row.best_gain);
  return {1, row.best_condition.empty() ? 0U : 1U, saved_time(row, *row.best_gain), saved_time(row, low)};
}

void add_saving(FleetSaving& sum, const FleetSaving& saving) {
  sum.traces += saving.traces;
  sum.conditional_traces += saving.conditional_traces;
  add_time(sum.ns, saving.ns);
  add_time(sum.low_ns, saving.low_ns);
}

/// The reason without what differs from file to file: "the gzip stream ends early at byte N".
std::string kind_of_error(std::string_view reason) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string kind;
  for (std::size_t index = 0; index < reason.size(); ++index) {
    if (!is_digit(reason[index])) {
      kind += reason[index];
    } else if (index == 0 || !is_digit(reason[index - 1])) {
      kind += 'N';
    }
  }
  return kind;
}

template <typename Item>
void sort_by_loss(std::vector<Item>& items) {
  // What is equal keeps the order of its name.
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.lost_ns, a.jobs, a.traces) > std::tie(b.lost_ns, b.jobs, b.traces);
  });
}

/// Values of one column of recordings, in order of time.
struct Series {
  std::vector<std::int64_t> times;
  std::vector<double> values;

  /// How many are earlier: half, moved the shortest way to where no recordings of one time are on different sides.
  std::size_t earlier_count() const {
    const std::size_t half = times.size() / 2;
    if (half == 0) return 0;
    const auto same = std::equal_range(times.begin(), times.end(), times[half]);
    const auto begin = static_cast<std::size_t>(same.first - times.begin());
    const auto end = static_cast<std::size_t>(same.second - times.begin());
    return half - begin <= end - half || end == times.size() ? begin : end;
  }
  std::span<const double> earlier() const { return std::span(values).first(earlier_count()); }
  std::span<const double> later() const { return std::span(values).subspan(earlier_count()); }

  std::optional<FleetTrend> trend() const {
    if (values.empty()) return std::nullopt;
    const bool has_halves = !earlier().empty() && !later().empty();
    const double all = median(values);
    return FleetTrend{values.front(), values.back(), has_halves ? median(earlier()) : all,
                      has_halves ? median(later()) : all};
  }
};

template <typename Recordings, typename Value>
Series series_of(const Recordings& recordings, Value value) {
  Series series;
  for (const auto& recording : recordings) {
    if (recording.*value < 0) continue;
    series.times.push_back(recording.recorded_ns);
    series.values.push_back(recording.*value);
  }
  return series;
}

}  // namespace

/// What several groups take of a row.
struct FleetCounter::RowFacts {
  const TraceRow& row;
  std::uint64_t hash = 0;
  std::uint64_t job = 0;
  std::int64_t lost_ns = 0;
};

void FleetCounter::add(Group& group, const RowFacts& facts) {
  ++group.traces;
  group.jobs.insert(facts.job);
  add_time(group.lost_ns, facts.lost_ns);
  const std::string& path = facts.row.file.path;
  const bool lost_more = facts.lost_ns > group.most_lost_ns;
  if (lost_more || (facts.lost_ns == group.most_lost_ns && path < group.example)) {
    group.most_lost_ns = facts.lost_ns;
    group.example = path;
  }
}

void FleetCounter::add(Cause cause, const Names& names, const RowFacts& facts, const FleetSaving& saving) {
  Group& group = causes_[cause][names];
  add(group, facts);
  add_saving(group.saved, saving);
}

void FleetCounter::add(Pipeline& pipeline, const RowFacts& facts) {
  add(pipeline.group, facts);
  const TraceRow& row = facts.row;
  if (row.recorded_ns == 0) return;
  const Recording recording{facts.hash, row.recorded_ns, row.input_share.value_or(-1),
                            row.get_next_p50_us.value_or(-1)};
  const bool is_first = pipeline.dated_traces++ == 0;
  if (is_first || recording.is_before(pipeline.first)) pipeline.first = recording;
  if (is_first || pipeline.last.is_before(recording)) pipeline.last = recording;
  add(pipeline, recording);
}

void FleetCounter::add(Pipeline& pipeline, const Recording& recording) {
  pipeline.sample.insert(recording);
  if (pipeline.sample.size() > kSampleSize) pipeline.sample.erase(std::prev(pipeline.sample.end()));
}

void FleetCounter::merge(Group& into, const Group& from) {
  into.traces += from.traces;
  into.jobs.insert(from.jobs.begin(), from.jobs.end());
  add_time(into.lost_ns, from.lost_ns);
  add_saving(into.saved, from.saved);
  const bool lost_more = from.most_lost_ns > into.most_lost_ns;
  if (lost_more || (from.most_lost_ns == into.most_lost_ns && from.example < into.example)) {
    into.most_lost_ns = from.most_lost_ns;
    into.example = from.example;
  }
}

void FleetCounter::merge(Pipeline& into, const Pipeline& from) {
  merge(into.group, from.group);
  if (from.dated_traces == 0) return;
  const bool is_first = into.dated_traces == 0;
  into.dated_traces += from.dated_traces;
  if (is_first || from.first.is_before(into.first)) into.first = from.first;
  if (is_first || into.last.is_before(from.last)) into.last = from.last;
  for (const Recording& recording : from.sample) add(into, recording);
}

void FleetCounter::merge(const Fleet& from, const Jobs& jobs) {
  fleet_.rows += from.rows;
  jobs_.insert(jobs.begin(), jobs.end());
  add_passed_over(from.repeated, from.not_rows, from.first_not_row);
  add_time(fleet_.window_ns, from.window_ns);
  add_time(fleet_.lost_ns, from.lost_ns);
  add_saving(fleet_.saved, from.saved);
  for (const auto& [verdict, traces] : from.verdicts) fleet_.verdicts[verdict] += traces;
}

void FleetCounter::add_passed_over(std::uint64_t repeated, std::uint64_t not_rows, const std::string& first_not_row) {
  fleet_.repeated += repeated;
  fleet_.not_rows += not_rows;
  if (fleet_.first_not_row.empty()) fleet_.first_not_row = first_not_row;
}

void FleetCounter::add(const TraceRow& row, std::uint64_t hash) {
  const RowFacts facts{row, hash, fnv1a_64(job_of(row.file.path)), to_nanoseconds(row.input_lost_us)};
  ++fleet_.rows;
  jobs_.insert(facts.job);
  add_time(fleet_.window_ns, to_nanoseconds(row.window_us));
  add_time(fleet_.lost_ns, facts.lost_ns);
  if (!row.error.empty()) return add(kError, {kind_of_error(row.error)}, facts);
  ++fleet_.verdicts[row.verdict.empty() ? "none" : row.verdict];
  const FleetSaving saving = saving_of(row);
  add_saving(fleet_.saved, saving);
  const std::string dataset(kind_of(row.culprit_dataset));
  add(kCulprit, {row.culprit_kind, dataset, row.limiting_resource}, facts, saving);
  if (!row.culprit_source.empty()) add(kLine, {row.culprit_source, dataset}, facts, saving);
  if (const std::string name = grouping_.group_of(row); !name.empty()) add(kGroup, {name}, facts, saving);
  steps_.add(row, hash);
  std::set<std::string_view> rules;
  for (const RowFinding& finding : row.findings) {
    if (!rules.insert(finding.rule).second) continue;
    add(kRule, {finding.rule}, facts, finding.rule == row.best_fix ? saving : FleetSaving());
  }
  if (!row.signature.empty()) add(pipelines_[row.signature], facts);
}

FleetCause FleetCounter::describe(const Group& group) const {
  FleetCause cause;
  cause.traces = group.traces;
  cause.jobs = group.jobs.size();
  cause.lost_ns = group.lost_ns;
  cause.saved = group.saved;
  cause.share = fleet_.lost_ns > 0 ? static_cast<double>(group.lost_ns) / static_cast<double>(fleet_.lost_ns) : 0;
  cause.example = group.example;
  return cause;
}

/// Appends a p-value where the pipeline was recorded often enough to say whether it became slower.
FleetPipeline FleetCounter::describe(const std::string& signature, Pipeline& pipeline, std::vector<double>& p_values) {
  FleetPipeline result;
  result.signature = signature;
  result.traces = pipeline.group.traces;
  result.jobs = pipeline.group.jobs.size();
  result.lost_ns = pipeline.group.lost_ns;
  result.example = pipeline.group.example;
  result.dated_traces = pipeline.dated_traces;
  if (pipeline.dated_traces == 0) return result;
  result.first_ns = pipeline.first.recorded_ns;
  result.last_ns = pipeline.last.recorded_ns;
  pipeline.sample.insert(pipeline.first);
  pipeline.sample.insert(pipeline.last);
  std::vector<Recording> recordings(pipeline.sample.begin(), pipeline.sample.end());
  std::sort(recordings.begin(), recordings.end(),
            [](const Recording& a, const Recording& b) { return a.is_before(b); });
  result.input_share = series_of(recordings, &Recording::input_share).trend();
  const Series times = series_of(recordings, &Recording::get_next_p50_us);
  result.get_next_p50 = times.trend();
  result.earlier_count = times.earlier().size();
  result.later_count = times.later().size();
  if (std::min(result.earlier_count, result.later_count) < kRegressionHalf) return result;
  result.p_value = mann_whitney_above(times.earlier(), times.later());
  p_values.push_back(*result.p_value);
  return result;
}

Fleet FleetCounter::finish() {
  Fleet fleet = std::move(fleet_);
  fleet_ = {};
  fleet_.lost_ns = fleet.lost_ns;
  fleet.jobs = jobs_.size();
  const auto causes_of = [&](Cause kind, std::initializer_list<std::string FleetCause::*> members) {
    std::vector<FleetCause> causes;
    for (const auto& [names, group] : causes_[kind]) {
      FleetCause& cause = causes.emplace_back(describe(group));
      auto name = names.begin();
      for (const auto member : members) cause.*member = *name++;
    }
    sort_by_loss(causes);
    return causes;
  };
  fleet.culprits =
      causes_of(kCulprit, {&FleetCause::culprit_kind, &FleetCause::culprit_dataset, &FleetCause::limiting_resource});
  fleet.lines = causes_of(kLine, {&FleetCause::source, &FleetCause::culprit_dataset});
  fleet.rules = causes_of(kRule, {&FleetCause::rule});
  fleet.groups = causes_of(kGroup, {&FleetCause::group});
  fleet.grouped_by = grouping_.name();
  fleet.slower_jobs = steps_.slower(ThresholdValues(comparison_thresholds(), {}));
  for (const auto& [reason, group] : causes_[kError]) {
    fleet.errors.push_back({reason.front(), group.traces, group.example});
  }
  std::vector<double> p_values;
  for (auto& [signature, pipeline] : pipelines_) fleet.pipelines.push_back(describe(signature, pipeline, p_values));
  const std::vector<double> adjusted = holm_adjusted(p_values);
  std::size_t next = 0;
  for (FleetPipeline& pipeline : fleet.pipelines) {
    if (!pipeline.p_value) continue;
    pipeline.p_value = adjusted[next++];
    const bool is_slower = pipeline.get_next_p50->later > pipeline.get_next_p50->earlier;
    pipeline.is_regression = is_slower && *pipeline.p_value <= kRegressionSignificance;
  }
  sort_by_loss(fleet.pipelines);
  std::stable_sort(fleet.errors.begin(), fleet.errors.end(),
                   [](const FleetError& a, const FleetError& b) { return a.traces > b.traces; });
  for (std::size_t index = 0; index < fleet.pipelines.size(); ++index) {
    if (fleet.pipelines[index].is_regression) fleet.regressions.push_back(index);
  }
  return fleet;
}

}  // namespace doctor
