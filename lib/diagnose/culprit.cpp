#include "diagnose/culprit.h"

#include <algorithm>
#include <map>

#include "diagnose/culprit_function.h"
#include "diagnose/dataset_words.h"

namespace doctor {
namespace {

/// Whether an iterator reads its inputs on several threads.
bool has_several_readers(const IteratorMeasurement& iterator) {
  return is_parallel_interleave(iterator) || dataset_kind(iterator).source == Source::service;
}

/// The outermost iterator that works on the same thread: its consumer, if any, is asynchronous.
IteratorId head_of_thread(const HostMeasurement& host, IteratorId iterator) {
  for (const IteratorId above : iterators_above(host, iterator)) {
    if (host.iterators[above].is_async) break;
    iterator = above;
  }
  return iterator;
}

/// A thread that runs synchronous iterators.
struct ThreadWork {
  Picoseconds work = 0;  ///< of all of them
  IteratorId busiest = kNoIterator;
};

/// By the outermost iterator of each thread.
std::map<IteratorId, ThreadWork> work_of_threads(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  std::map<IteratorId, ThreadWork> threads;
  for (const IteratorId member : pipeline.members) {
    const IteratorMeasurement& iterator = host.iterators[member];
    if (iterator.is_async) continue;
    ThreadWork& thread = threads[head_of_thread(host, member)];
    thread.work += iterator.work();
    const bool is_busier = thread.busiest == kNoIterator || iterator.work() > host.iterators[thread.busiest].work();
    if (is_busier) thread.busiest = member;
  }
  return threads;
}

bool is_below(const HostMeasurement& host, IteratorId iterator, IteratorId ancestor) {
  const std::vector<IteratorId> above = iterators_above(host, iterator);
  return std::find(above.begin(), above.end(), ancestor) != above.end();
}

bool is_one_thread(const HostMeasurement& host, IteratorId head) {
  const std::vector<IteratorId> above = iterators_above(host, head);
  return std::none_of(above.begin(), above.end(),
                      [&](IteratorId id) { return has_several_readers(host.iterators[id]); });
}

/// Whether ops of the culprit's function are in the trace, and none of them ran for half of its time. `also_waited`: of
/// the time of its ops, what was waiting as well.
bool waits_without_ops(const PhaseMeasurement& phase, Picoseconds also_waited = 0) {
  const Picoseconds waited = phase.function_idle + also_waited;
  return !phase.function_ops.empty() && 2 * waited >= phase.critical[phase.culprit];
}

}  // namespace

std::optional<BusyStage> find_busiest_stage_below(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.steady.culprit;
  if (culprit == kNoIterator || pipeline.calls.empty()) return std::nullopt;
  const auto time = static_cast<double>(pipeline.calls.back().end - pipeline.calls.front().start);
  if (time <= 0) return std::nullopt;
  const auto part = [&](Picoseconds work) { return std::min(1.0, static_cast<double>(work) / time); };
  const bool is_async = host.iterators[culprit].is_async;
  const IteratorId own_head = is_async ? kNoIterator : head_of_thread(host, culprit);
  const std::map<IteratorId, ThreadWork> threads = work_of_threads(host, pipeline);
  const auto own = threads.find(own_head);
  BusyStage busiest;
  busiest.busy_of_culprit = part(own == threads.end() ? host.iterators[culprit].work() : own->second.work);
  for (const auto& [head, thread] : threads) {
    const bool is_busier = part(thread.work) > busiest.busy;
    if (head == own_head || !is_busier || !is_below(host, head, culprit) || !is_one_thread(host, head)) continue;
    busiest.busy = part(thread.work);
    busiest.iterator = thread.busiest;
  }
  return busiest.iterator == kNoIterator ? std::nullopt : std::optional(busiest);
}

bool is_saturated(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                  const ThresholdValues& thresholds) {
  const bool is_async = host.iterators[phase.culprit].is_async;
  if (is_async && !waits_without_ops(phase)) return false;
  return stage.busy >= thresholds[is_async ? "min_input_thread_share" : "min_thread_share"] &&
         stage.busy >= thresholds["min_thread_lead"] * stage.busy_of_culprit;
}

bool rivals_culprit(const BusyStage& stage, const HostMeasurement& host, const PhaseMeasurement& phase,
                    const ThresholdValues& thresholds) {
  return !host.iterators[phase.culprit].is_async && stage.busy >= thresholds["min_input_thread_share"] &&
         stage.busy >= stage.busy_of_culprit;
}

IteratorId find_user_of_cores(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                              const PhaseMeasurement& phase, const ThresholdValues& thresholds) {
  const bool are_used_up = cpu_utilization(pipeline, phase).value_or(0) >= thresholds["cores_used_up"];
  if (phase.culprit == kNoIterator || !are_used_up) return kNoIterator;
  const IteratorMeasurement& culprit = host.iterators[phase.culprit];
  const bool are_files_waits = are_cores_used_up_beside_files(pipeline, phase, culprit, thresholds);
  if (!waits_without_ops(phase, are_files_waits ? time_in_files(phase.function_ops) : 0)) return kNoIterator;
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

}  // namespace doctor
