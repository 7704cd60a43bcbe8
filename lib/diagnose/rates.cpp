#include "base/time.h"
#include "diagnose/judgement_passes.h"

namespace doctor {
namespace {

/// Rates differ by less from run to run: of 43 labelled programs that were timed several times, the fastest time is
/// less than this times as fast as the slowest in 38.
constexpr double kClockedSlowdown = 1.5;

/// Recording slows an input of many ops down more than the loop that takes its elements. Where a device computes, what
/// launches its work is slowed down as well. Steps that were faster than recorded ones without their waits lived on
/// stored elements.
void take_clocked_rate(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  const double clocked = judged.steps_per_s * host.recording.slowdown.value_or(1);
  if (pipeline.exposed || clocked <= judged.steps_per_s || clocked >= judged.steps_per_s_without_input) return;
  judged.has_clocked_rate = true;
  judged.steps_per_s = clocked;
}

/// What no model tells: the steps as they were recorded, and without their waits.
void take_recorded_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  constexpr double kLeastWithoutInput = 0.001;  // of the time: a consumer that does nothing else has no rate of its own
  const std::size_t first = pipeline.warmup_count;
  const double share = pipeline.judged_cadence().share;
  if (pipeline.feeds_another || !pipeline.has_cadence || first + 1 >= pipeline.calls.size()) return;
  const Picoseconds time = pipeline.calls.back().start - pipeline.calls[first].start;
  if (time <= 0 || share >= 1 - kLeastWithoutInput) return;
  judged.has_recorded_rates = true;
  judged.steps_per_s = 1e6 * static_cast<double>(pipeline.calls.size() - 1 - first) / to_microseconds(time);
  judged.steps_per_s_without_input = judged.steps_per_s / (1 - share);
  take_clocked_rate(host, pipeline, judged);
}

void take_rates(const PipelineEvidence& evidence, PipelineJudgement& judged) {
  if (!evidence.throughput->tells_gains_of(evidence.pipeline))
    return take_recorded_rates(evidence.host, evidence.pipeline, judged);
  judged.steps_per_s = evidence.throughput->steps_per_s();
  if (!evidence.throughput->is_for_report() && !evidence.pipeline.exposed) return;
  judged.steps_per_s_without_input = evidence.throughput->without_input().estimate;
  const double lost = 1 - judged.steps_per_s / std::max(judged.steps_per_s, judged.steps_per_s_without_input);
  if (evidence.pipeline.exposed && lost > judged.input_share) judged.lost_share = lost;
}

/// What a model tells of a slow pipeline.
void judge_by_model(const PipelineEvidence& evidence, PipelineJudgement& judged) {
  Throughput& throughput = *evidence.throughput;
  if (judged.level != InputLevel::unknown) judged.cost = find_input_cost(evidence, judged.input_share);
  if (judged.cost.takes != InputCost::Takes::nothing) judged.level = InputLevel::bound;
  if (!judged.is_slow()) return;
  take_rates(evidence, judged);
  if (throughput.is_about(evidence.pipeline)) judged.bottleneck = throughput.model()->now.limited_by;
}

}  // namespace

InputCost find_input_cost(const PipelineEvidence& evidence, double waited) {
  InputCost cost;
  const PipelineMeasurement& pipeline = evidence.pipeline;
  const ThresholdValues& thresholds = evidence.thresholds;
  if (!pipeline.input_load) return cost;
  Throughput& throughput = *evidence.throughput;
  const std::optional<CoresInUse>& cores = evidence.cores;
  const bool takes_cores =
      cores && cores->all >= thresholds["cores_missing"] && cores->of_input >= thresholds["min_cores_taken"];
  const bool takes_lock = throughput.sample().python_lock == PythonLock::held &&
                          pipeline.input_load->python_share() > thresholds["much_python"];
  if ((!takes_cores && !takes_lock) || !throughput.is_about(pipeline)) return cost;
  cost.speedup_without_input = throughput.without_input().gain(*throughput.model());
  const double saved = cost.share_saved();
  if (saved < thresholds["min_share"] || saved - waited < saved / 2) return cost;
  cost.takes = takes_cores ? InputCost::Takes::cores : InputCost::Takes::python_lock;
  return cost;
}

void judge_rates(const PipelineEvidence& evidence, PipelineJudgement& judged) {
  const double clocked = evidence.host.recording.slowdown.value_or(1);
  if (judged.level != InputLevel::unknown && clocked >= kClockedSlowdown) judged.slowdown_by_tracing = clocked;
  if (evidence.throughput == nullptr) return;
  Throughput& throughput = *evidence.throughput;
  // What the other steps waited for is not in the trace: there is no model of it.
  if (!judged.follows_whole_run) judge_by_model(evidence, judged);
  if (judged.level == InputLevel::not_bound && throughput.takes_from(evidence.pipeline)) {
    judged.late_share = throughput.late_share();
  }
  if (judged.level == InputLevel::bound) {
    judged.slowdown_by_tracing = std::max(judged.slowdown_by_tracing, throughput.slowdown_by_tracing());
  }
}

}  // namespace doctor
