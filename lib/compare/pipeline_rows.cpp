#include <algorithm>

#include "compare/comparison_parts.h"
#include "compare/step_model.h"

namespace doctor {
namespace {

/// One pipeline through all recordings. Bare GetNext ops have no iterators, so no root.
struct AlignedPipeline {
  std::string subject;  ///< long name of the root; empty without one
  std::vector<std::size_t> in_base;
  std::vector<std::size_t> in_candidate;
};

std::vector<AlignedPipeline> align_pipelines(const AlignedRuns& runs) {
  std::vector<AlignedPipeline> pipelines;
  for (const AlignedIterator& iterator : runs.iterators) {
    if (iterator.is_new() || iterator.is_gone() || iterator.base->parent != kNoIndex) continue;
    pipelines.push_back({iterator.base->long_name, iterator.in_base, iterator.in_candidate});
  }
  pipelines.push_back({{},
                       std::vector<std::size_t>(runs.base_runs.size(), kNoIndex),
                       std::vector<std::size_t>(runs.candidate_runs.size(), kNoIndex)});
  return pipelines;
}

/// Median microseconds in each recording that shows the pipeline often enough. `consumer` is what modelled steps take
/// for the work of the consumer, on both sides.
std::vector<double> read_medians(TimeKind kind, std::span<const RunSummary> recordings,
                                 const std::vector<std::size_t>& roots, bool has_root, double consumer,
                                 double min_calls) {
  std::vector<double> medians;
  for (std::size_t recording = 0; recording < recordings.size(); ++recording) {
    if (has_root && roots[recording] == kNoIndex) continue;
    const PipelineSummary* const pipeline = find_pipeline(recordings[recording], roots[recording]);
    if (pipeline == nullptr) continue;
    if (kind == TimeKind::modelled) {
      const std::optional<double> step = modelled_step_us(recordings[recording], *pipeline, consumer);
      if (step && static_cast<double>(pipeline->step.count) >= min_calls) medians.push_back(*step);
      continue;
    }
    const DurationStatistics& durations = kind == TimeKind::step ? pipeline->step : pipeline->get_next;
    if (static_cast<double>(durations.count) >= min_calls) medians.push_back(to_microseconds(durations.median));
  }
  return medians;
}

/// Median microseconds between two calls of the consumer: it is not a part of what is compared.
double consumer_of(std::span<const RunSummary> recordings, const std::vector<std::size_t>& roots, bool has_root) {
  std::vector<double> gaps;
  for (std::size_t recording = 0; recording < recordings.size(); ++recording) {
    if (has_root && roots[recording] == kNoIndex) continue;
    const PipelineSummary* const pipeline = find_pipeline(recordings[recording], roots[recording]);
    if (pipeline != nullptr) gaps.push_back(consumer_us(*pipeline));
  }
  return median(gaps);
}

/// Nothing has to be read off it where a side has no recording of it.
TimeRow read_row(TimeKind kind, const AlignedPipeline& pipeline, const AlignedRuns& runs, double min_calls) {
  const bool has_root = !pipeline.subject.empty();
  TimeRow row;
  row.kind = kind;
  row.subject = pipeline.subject;
  row.words = kind == TimeKind::get_next ? "GetNext" : kind == TimeKind::step ? "step" : "step, by its work";
  const double consumer = kind == TimeKind::modelled ? consumer_of(runs.base_runs, pipeline.in_base, has_root) : 0;
  row.base = read_medians(kind, runs.base_runs, pipeline.in_base, has_root, consumer, min_calls);
  row.candidate = read_medians(kind, runs.candidate_runs, pipeline.in_candidate, has_root, consumer, min_calls);
  return row;
}

bool is_asked_for(TimeKind kind, const ComparisonChoice& choice) {
  if (kind == TimeKind::modelled) return choice.max_slowdown.has_value();
  return kind == TimeKind::step ? choice.judges_step : choice.judges_get_next;
}

/// Each by itself: who asks for GetNext or steps asks about this one.
void judge_row(TimeRow& row, bool is_wanted, const TimeLimits& limits, double min_ratio) {
  compare_readings(row);
  row.cost_us = row.candidate_median - row.base_median;
  const bool is_enough = std::min(row.base.size(), row.candidate.size()) >= limits.needed_count;
  row.is_judged = is_wanted && is_enough;
  if (!is_wanted && row.kind != TimeKind::modelled) {
    row.reason = "differs too much between like recordings, so it is not judged";
  }
  if (!is_enough && row.kind != TimeKind::modelled) row.reason = "too few recordings";
  if (row.is_judged) judge_rows({&row}, {min_ratio, 0}, limits);
}

}  // namespace

std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice, bool is_other_machine,
                                       const TimeLimits& limits, const ThresholdValues& thresholds) {
  if (runs.base == nullptr || runs.candidate == nullptr) return {};
  std::vector<TimeRow> rows;
  for (const AlignedPipeline& pipeline : align_pipelines(runs)) {
    for (const TimeKind kind : {TimeKind::get_next, TimeKind::step, TimeKind::modelled}) {
      TimeRow row = read_row(kind, pipeline, runs, thresholds["min_calls"]);
      if (row.base.empty() || row.candidate.empty()) continue;
      const double floor =
          kind == TimeKind::modelled ? 1 + choice.max_slowdown.value_or(0) : thresholds["step_min_ratio"];
      judge_row(row, is_asked_for(kind, choice) && !is_other_machine, limits, floor);
      if (is_other_machine) row.reason = kOtherMachine;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace doctor
