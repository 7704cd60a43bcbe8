#include "diagnose/judgement.h"

#include <algorithm>
#include <cmath>

namespace doctor {
namespace {

/// A phase whose culprit explains less than this of the waits says nothing about what is slow.
constexpr double kMeaningfulShare = 0.3;

/// Utilisation of the CPU budget above which the CPU is the limit, and below which it is not (shared design
/// "diagnosis", thresholds of cpu-saturated and low-parallelism).
constexpr double kSaturated = 0.80;
constexpr double kIdle = 0.55;

InputLevel level_of(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds) {
  if (pipeline.calls.empty()) return InputLevel::unknown;
  if (to_microseconds(pipeline.trimmed_mean) <= thresholds["min_latency"]) return InputLevel::not_bound;
  const double share = pipeline.input_share();
  if (share >= thresholds["min_share"]) return InputLevel::bound;
  return share >= thresholds["min_mild_share"] ? InputLevel::mild : InputLevel::not_bound;
}

/// A filling shuffle buffer makes its input busy; the buffer is what the user can change.
IteratorId warmup_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.warmup.culprit;
  if (!pipeline.shuffle_fill || culprit == kNoIterator) return culprit;
  const IteratorMeasurement& iterator = host.iterators[index_of(culprit)];
  const bool is_below_shuffle = iterator.parent == pipeline.shuffle_fill->iterator;
  const bool is_in_memory = iterator.short_name == "Range" || iterator.short_name == "TensorSlice";
  return is_below_shuffle && is_in_memory ? pipeline.shuffle_fill->iterator : culprit;
}

void find_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judgement) {
  const Picoseconds steady = pipeline.steady.waited;
  const Picoseconds warmup = pipeline.warmup.waited;
  const auto share_in = [](const PhaseMeasurement& phase, IteratorId culprit) {
    if (culprit == kNoIterator || phase.waited <= 0) return 0.0;
    return static_cast<double>(phase.critical[index_of(culprit)]) / static_cast<double>(phase.waited);
  };
  const bool is_slow = judgement.level == InputLevel::bound || judgement.level == InputLevel::mild;
  if (judgement.level != InputLevel::bound && warmup > steady && pipeline.warmup.culprit != kNoIterator) {
    judgement.phase = Phase::warmup;
    judgement.culprit = warmup_culprit(host, pipeline);
    judgement.culprit_share = share_in(pipeline.warmup, pipeline.warmup.culprit);
    return;
  }
  judgement.culprit = pipeline.steady.culprit;
  judgement.culprit_share = share_in(pipeline.steady, judgement.culprit);
  if (!is_slow && pipeline.busiest != kNoIterator && judgement.culprit_share < kMeaningfulShare) {
    judgement.phase = Phase::background;
    judgement.culprit = pipeline.busiest;
    judgement.culprit_share = 0;
  }
}

Limit limit_of(const HostMeasurement& host, const PipelineMeasurement& pipeline, const PipelineJudgement& judgement) {
  if (judgement.culprit == kNoIterator || judgement.phase == Phase::background) return Limit::unknown;
  const PhaseMeasurement& phase = judged_phase(pipeline, judgement);
  // Sleeping, waiting for I/O and waiting for Python's lock look the same in a trace.
  if (phase.python > 0) return Limit::unknown;
  const std::optional<double> utilization = cpu_utilization(pipeline, phase);
  if (!utilization) return Limit::unknown;
  if (*utilization >= kSaturated) return Limit::cpu;
  const IteratorMeasurement& culprit = host.iterators[index_of(judgement.culprit)];
  return *utilization <= kIdle && !culprit.is_source ? Limit::concurrency : Limit::unknown;
}

/// Rises with the number of calls, with the distance from the threshold, and falls with what the window hides.
double confidence_in(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                     const ThresholdValues& thresholds) {
  const auto calls = static_cast<double>(pipeline.steady.call_count);
  const double by_calls = calls / (calls + 2);
  const double threshold = thresholds["min_share"];
  const double distance = std::abs(pipeline.input_share() - threshold) / std::max(threshold, 0.01);
  const double by_margin = 0.6 + 0.4 * std::min(1.0, distance);
  const Picoseconds waited = std::max<Picoseconds>(pipeline.steady.waited, 1);
  const double unseen = static_cast<double>(pipeline.steady.unseen) / static_cast<double>(waited);
  const double by_coverage = judgement.level == InputLevel::bound ? 1 - 0.5 * std::min(1.0, unseen) : 1;
  return by_calls * by_margin * by_coverage;
}

/// One call in a window of arbitrary length can show that the consumer waits, never that it does not.
VerdictStatus status_of(const PipelineMeasurement& pipeline, InputLevel level) {
  if (level == InputLevel::bound) return VerdictStatus::input_bound;
  const bool is_known = level != InputLevel::unknown && pipeline.has_cadence;
  return is_known ? VerdictStatus::healthy : VerdictStatus::inconclusive;
}

bool is_complete_and_not_empty(const Measurements& measurements) {
  return std::all_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return host.event_count > 0 && host.loss.complete(); });
}

}  // namespace

std::vector<Threshold> verdict_thresholds() {
  return {
      {"min_share", 0.20, "share",
       "part of the time spent in GetNext from which a job is input-bound; XProf calls it highly input-bound"},
      {"min_mild_share", 0.05, "share", "part from which it is worth a note; XProf calls it moderately input-bound"},
      {"min_latency", 50, "us",
       "mean GetNext latency without the slowest tenth that must be exceeded too; seed guide of tf.data analysis. "
       "Necessary, never sufficient: healthy jobs show medians of 45 to 120 us"},
  };
}

const PhaseMeasurement& judged_phase(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement) {
  return judgement.phase == Phase::warmup ? pipeline.warmup : pipeline.steady;
}

std::optional<double> cpu_utilization(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase) {
  if (!pipeline.cpu_budget || *pipeline.cpu_budget <= 0) return std::nullopt;
  return std::min(1.0, phase.busy_threads / static_cast<double>(*pipeline.cpu_budget));
}

Judgement judge(const Measurements& measurements, const ThresholdValues& thresholds) {
  Judgement judgement;
  const auto measured = [&](const PipelineJudgement& of) -> const PipelineMeasurement& {
    return measurements.hosts[of.host].pipelines[of.pipeline];
  };
  for (std::size_t host = 0; host < measurements.hosts.size(); ++host) {
    for (std::size_t index = 0; index < measurements.hosts[host].pipelines.size(); ++index) {
      const PipelineMeasurement& pipeline = measurements.hosts[host].pipelines[index];
      PipelineJudgement judged;
      judged.host = host;
      judged.pipeline = index;
      judged.level = level_of(pipeline, thresholds);
      find_culprit(measurements.hosts[host], pipeline, judged);
      judged.limited_by = limit_of(measurements.hosts[host], pipeline, judged);
      judgement.pipelines.push_back(judged);
    }
  }
  std::stable_sort(judgement.pipelines.begin(), judgement.pipelines.end(),
                   [&](const PipelineJudgement& a, const PipelineJudgement& b) {
                     const PipelineMeasurement& left = measured(a);
                     const PipelineMeasurement& right = measured(b);
                     if (left.feeds_another != right.feeds_another) return !left.feeds_another;
                     if (a.level != b.level) return a.level > b.level;
                     return left.total > right.total;
                   });
  if (judgement.pipelines.empty()) {
    const bool shows_no_tf_data = !shows_tf_data(measurements) && is_complete_and_not_empty(measurements);
    judgement.status = shows_no_tf_data ? VerdictStatus::no_input_pipeline : VerdictStatus::inconclusive;
    return judgement;
  }
  const PipelineJudgement& worst = judgement.pipelines.front();
  judgement.status = status_of(measured(worst), worst.level);
  judgement.confidence = confidence_in(measured(worst), worst, thresholds);
  return judgement;
}

}  // namespace doctor
