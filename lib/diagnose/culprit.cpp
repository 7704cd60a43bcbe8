#include "diagnose/culprit_function.h"
#include "diagnose/judgement_passes.h"
#include "diagnose/throughput.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

/// Whether an iterator reads its inputs on several threads.
bool has_several_readers(const IteratorMeasurement& iterator) {
  return iterator.is_parallel_interleave() || iterator.kind().source == Source::service;
}

/// A thread that runs synchronous iterators.
struct ThreadWork {
  Picoseconds work = 0;  ///< of all of them
  IteratorId busiest = kNoIterator;
  bool runs_culprit = false;       ///< the iterator that the waits end at is one of them
  bool is_below_culprit = false;   ///< that one is above them, on another thread
  bool is_one_of_several = false;  ///< an iterator above reads its inputs on several threads
};

/// By the outermost iterator of each thread: its consumer, if any, is asynchronous.
std::map<IteratorId, ThreadWork> work_of_threads(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.steady.culprit;
  std::map<IteratorId, ThreadWork> threads;
  for (const IteratorId member : pipeline.members) {
    const IteratorMeasurement& iterator = host.iterators[member];
    if (iterator.is_async) continue;
    IteratorId head = member;
    bool is_same_thread = true;
    bool is_below_culprit = false;
    bool is_one_of_several = false;
    for (const IteratorId above : host.iterators_above(member)) {
      is_same_thread = is_same_thread && !host.iterators[above].is_async;
      if (is_same_thread) {
        head = above;
        continue;
      }
      is_below_culprit = is_below_culprit || above == culprit;
      is_one_of_several = is_one_of_several || has_several_readers(host.iterators[above]);
    }
    ThreadWork& thread = threads[head];
    thread.work += iterator.work();
    const bool is_busier = thread.busiest == kNoIterator || iterator.work() > host.iterators[thread.busiest].work();
    if (is_busier) thread.busiest = member;
    thread.runs_culprit = thread.runs_culprit || member == culprit;
    thread.is_below_culprit = is_below_culprit;
    thread.is_one_of_several = is_one_of_several;
  }
  return threads;
}

/// Whether ops of the culprit's function are in the trace, and none of them ran for half of its time. `also_waited`: of
/// the time of its ops, what was waiting as well.
bool waits_without_ops(const PhaseMeasurement& phase, Picoseconds also_waited = 0) {
  const Picoseconds waited = phase.function_idle + also_waited;
  return !phase.function_ops.empty() && 2 * waited >= phase.critical[phase.culprit];
}

/// A sequential stage of a pipeline, which works on a thread of its own.
struct BusyStage {
  IteratorId iterator = kNoIterator;  ///< does most of the thread's work
  double busy = 0;                    ///< share of the time that its thread is at work, 0..1
  double busy_of_culprit = 0;         ///< the same of the thread of the iterator that the waits end at
};

/// The busiest of the stages below the iterator that the waits end at (PhaseMeasurement::culprit of the steady calls).
/// Stages whose work several threads share are left out.
std::optional<BusyStage> find_busiest_stage_below(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.steady.culprit;
  if (culprit == kNoIterator || pipeline.calls.empty()) return std::nullopt;
  const auto time = static_cast<double>(pipeline.calls.back().end - pipeline.calls.front().start);
  if (time <= 0) return std::nullopt;
  const auto share = [&](Picoseconds work) { return std::min(1.0, static_cast<double>(work) / time); };
  BusyStage busiest;
  busiest.busy_of_culprit = share(host.iterators[culprit].work());
  for (const auto& [head, thread] : work_of_threads(host, pipeline)) {
    if (thread.runs_culprit) busiest.busy_of_culprit = share(thread.work);
    const bool is_busier = share(thread.work) > busiest.busy;
    if (!is_busier || !thread.is_below_culprit || thread.is_one_of_several) continue;
    busiest.busy = share(thread.work);
    busiest.iterator = thread.busiest;
  }
  return busiest.iterator == kNoIterator ? std::nullopt : std::optional(busiest);
}

/// Whether nothing above the stage can be faster. The consumer asks when an element is half made, so its waits end at
/// the last stages of the pipeline; but where the thread of a stage below is at work nearly all the time, and that of
/// the last stage is not, they all wait for that one. A parallel stage whose calls wait while nothing of its function
/// runs waits for its input thread, if that works for half of the time.
bool is_saturated(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                  const ThresholdValues& thresholds) {
  const bool is_async = host.iterators[phase.culprit].is_async;
  if (is_async && !waits_without_ops(phase)) return false;
  return stage.busy >= thresholds[is_async ? "min_input_thread_share" : "min_thread_share"] &&
         stage.busy >= thresholds["min_thread_lead"] * stage.busy_of_culprit;
}

/// Whether the stage is as busy as the iterator that the waits end at, so that either may be the culprit.
bool rivals_culprit(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                    const ThresholdValues& thresholds) {
  return !host.iterators[phase.culprit].is_async && stage.busy >= thresholds["min_input_thread_share"] &&
         stage.busy >= stage.busy_of_culprit;
}

/// Where all cores are in use, the calls of a parallel stage wait for a core and not for their own work. Then the
/// iterator of the pipeline whose work kept the cores busy meanwhile holds them up. kNoIterator where no op of another
/// iterator ran for half of that time.
IteratorId find_user_of_cores(const PipelineEvidence& evidence) {
  const PipelineMeasurement& pipeline = evidence.pipeline;
  const PhaseMeasurement& phase = pipeline.steady;
  if (phase.culprit == kNoIterator) return kNoIterator;
  const CoresDuringWaits cores =
      cores_during_waits(pipeline, phase, evidence.host.iterators[phase.culprit], evidence.thresholds);
  const Picoseconds in_files = cores.are_used_up_beside_files ? cores.in_files : 0;
  if (!cores.are_used_up || !waits_without_ops(phase, in_files)) return kNoIterator;
  std::map<IteratorId, Picoseconds> time_of;
  for (const OpBeside& op : phase.beside) time_of[op.iterator] += op.time;
  IteratorId user = kNoIterator;
  Picoseconds most = phase.function_idle / 2;
  for (const auto& [iterator, time] : time_of) {
    const bool is_member =
        std::find(pipeline.members.begin(), pipeline.members.end(), iterator) != pipeline.members.end();
    if (!is_member || iterator == phase.culprit || time < most) continue;
    most = time;
    user = iterator;
  }
  return user;
}

/// A filling shuffle buffer makes its input busy; the buffer is what the user can change.
IteratorId warmup_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.warmup.culprit;
  if (!pipeline.shuffle_fill || culprit == kNoIterator) return culprit;
  const IteratorMeasurement& iterator = host.iterators[culprit];
  const bool is_below_shuffle = iterator.parent == pipeline.shuffle_fill->iterator;
  const Source source = iterator.kind().source;
  const bool is_in_memory = source == Source::memory || source == Source::numbers;
  return is_below_shuffle && is_in_memory ? pipeline.shuffle_fill->iterator : culprit;
}

/// The waits of the calls for these iterators, as a share of the time waited.
double share_of_waits(const PhaseMeasurement& phase, Picoseconds held) {
  return phase.waited > 0 ? std::min(1.0, static_cast<double>(held) / static_cast<double>(phase.waited)) : 0;
}

/// Makes another iterator the culprit than the one that the waits end at.
void choose(IteratorId culprit, ChosenBy chosen_by, const PhaseMeasurement& phase, PipelineJudgement& judgement) {
  judgement.culprit = culprit;
  judgement.chosen_by = chosen_by;
  judgement.culprit_share = share_of_waits(phase, phase.critical[culprit]);
}

/// The waits end at a later stage; the pace is that of the thread which never rests.
void follow_to_saturated_stage(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  const std::optional<BusyStage> stage = find_busiest_stage_below(evidence.host, evidence.pipeline);
  if (!stage) return;
  if (!is_saturated(*stage, evidence.host, evidence.pipeline.steady, evidence.thresholds)) {
    judgement.has_rival = rivals_culprit(*stage, evidence.host, evidence.pipeline.steady, evidence.thresholds);
    return;
  }
  judgement.evidence = {judgement.culprit, stage->busy, stage->busy_of_culprit, 0};
  choose(stage->iterator, ChosenBy::thread, evidence.pipeline.steady, judgement);
}

/// What waits for a core waits for the iterator that uses the cores.
void follow_to_user_of_cores(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  const PhaseMeasurement& phase = evidence.pipeline.steady;
  const IteratorId user = find_user_of_cores(evidence);
  if (user == kNoIterator) return;
  judgement.evidence = {phase.culprit, 0, 0, phase.function_idle};
  choose(user, ChosenBy::cores, phase, judgement);
}

/// The waits end at the work that goes on while the consumer waits; what limits the throughput is the stage that gains
/// most if its work takes no time.
void follow_to_limiting_stage(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  const LimitingStage limiting = find_limiting_stage(*evidence.throughput, evidence.pipeline, judgement.culprit);
  judgement.rival = limiting.rival;
  if (limiting.stage == kNoIterator) return;
  judgement.evidence = {judgement.culprit, 1 + limiting.gain, 1 + limiting.gain_of_culprit, 0};
  choose(limiting.stage, ChosenBy::model, evidence.pipeline.steady, judgement);
  judgement.has_rival = false;
}

}  // namespace

void choose_culprit(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  // What the other steps waited for is not in the trace: there is no culprit.
  if (judgement.follows_whole_run) return;
  const Picoseconds steady = evidence.pipeline.steady.waited;
  const Picoseconds warmup = evidence.pipeline.warmup.waited;
  const auto share_in = [](const PhaseMeasurement& phase, IteratorId culprit) {
    return culprit == kNoIterator ? 0.0 : share_of_waits(phase, phase.critical[culprit]);
  };
  if (judgement.level != InputLevel::bound && warmup > steady && evidence.pipeline.warmup.culprit != kNoIterator) {
    judgement.phase = Phase::warmup;
    judgement.culprit = warmup_culprit(evidence.host, evidence.pipeline);
    judgement.culprit_share = share_in(evidence.pipeline.warmup, evidence.pipeline.warmup.culprit);
    return;
  }
  judgement.culprit = evidence.pipeline.steady.culprit;
  judgement.culprit_share = share_in(evidence.pipeline.steady, judgement.culprit);
  if (judgement.is_slow() && judgement.culprit != kNoIterator) {
    follow_to_user_of_cores(evidence, judgement);
    if (!sets_pace(judgement)) follow_to_saturated_stage(evidence, judgement);
    if (judgement.bottleneck) follow_to_limiting_stage(evidence, judgement);
  }
  if (!judgement.is_slow() && evidence.pipeline.busiest != kNoIterator &&
      judgement.culprit_share < evidence.thresholds["min_culprit_share"]) {
    judgement.phase = Phase::background;
    judgement.culprit = evidence.pipeline.busiest;
    judgement.culprit_share = 0;
  }
}

}  // namespace doctor
