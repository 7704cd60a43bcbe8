#include "model/simulation.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace doctor {
namespace {

// Functions that run for each event are inlined by force: calls are a third of what a replay takes.

/// A thread that waits goes on so many us after what it waits for has happened. Source: medians from a closure's Record
/// to its StartRegion in traces of TF 2.15 and 2.21 are 1 to 16 us, the slowest tenth 11 to 100.
constexpr double kWakeUp = 20;

/// What it takes to wake a thread that waits for room, in us of who makes room. Source: what a prefetch at the end does
/// after it has handed out an element, in traces of TF 2.12 to 2.21 of idle and busy machines: 6 to 94, of 30
/// recordings with full buffers 23 in the median, and 4 of those whose maker does not wait.
constexpr double kWakeMaker = 20;

/// Of fewer steps there is no rate to speak of. Where steps have so many elements that the limits end a replay before
/// that, it may go on for so many times as long.
constexpr std::size_t kFewestMarks = 7;
constexpr std::size_t kTimesLonger = 10;
/// A change may make more events of a step: an element that goes through one more buffer is three.
constexpr std::size_t kTimesForSteps = 3;

}  // namespace

Simulation::Simulation(const Programs& programs, const ReplayLimits& limits)
    : programs_(programs), limits_(limits), clock_(static_cast<double>(programs.cores)) {
  buffers_.reserve(programs.producers.size());
  for (const auto& [stage, producer] : programs.producers) {
    buffer_of_.emplace_hint(buffer_of_.end(), stage, static_cast<BufferIndex>(buffers_.size()));
    ReplayBuffer& buffer = buffers_.emplace_back();
    buffer.producer = &producer;
    buffer.limit = producer.limit;
    buffer.end_program = producer.programs.size();
  }
  buffer_of_action_.resize(programs.actions.size());
  for (std::size_t index = 0; index < programs.actions.size(); ++index) {
    if (programs.actions[index].pull == kNoStage) continue;
    const auto found = buffer_of_.find(programs.actions[index].pull);
    if (found != buffer_of_.end()) buffer_of_action_[index] = found->second;
  }
  find_iterations();
  constexpr std::size_t kUsualThreads = 16;  // most pipelines have fewer: memory that is asked for once
  threads_.reserve(kUsualThreads);
  ready_.reserve(kUsualThreads);
  constexpr std::size_t kUsualSteps = 80;  // enough for a rate to settle; see kQuickReplay
  for (std::uint32_t consumer = 0; consumer < programs.consumers.size(); ++consumer) {
    add_thread(ReplayThread::Role::consumer).consumer = consumer;
    const std::size_t steps = programs.consumers[consumer].steps.size();
    if (consumer != 0) continue;
    wanted_steps_ = std::max(2 * steps, std::min(kUsualSteps, 4 * steps));
    steps_of_sample_ = std::min(2 * steps, kUsualSteps);
    if (limits.steps > 0) wanted_steps_ = steps_of_sample_ = limits.steps;
    marks_.reserve(std::min(wanted_steps_ + 1, limits.events));
  }
}

/// It runs next. The threads that are there may move.
ReplayThread& Simulation::add_thread(ReplayThread::Role role) {
  ThreadIndex index = static_cast<ThreadIndex>(threads_.size());
  if (free_threads_.empty()) {
    threads_.emplace_back();
  } else {
    index = free_threads_.back();
    free_threads_.pop_back();
    threads_[index] = {};
  }
  ready_.push_back(index);
  threads_[index].role = role;
  return threads_[index];
}

/// Lets the thread at hand work; returns whether it goes on at once, as about half of them do, because no other does
/// before. Otherwise time will wake it.
[[gnu::always_inline]] inline bool Simulation::work(ThreadIndex thread, double cpu, double cores) {
  if (is_alone() && clock_.use_core_at_once(cpu, cores)) {
    ++events_;
    return true;
  }
  clock_.use_core(thread, cpu, cores);
  return false;
}

/// The same of time that needs no core.
[[gnu::always_inline]] inline bool Simulation::sleep(ThreadIndex thread, double time) {
  if (is_alone() && clock_.sleep_at_once(time)) {
    ++events_;
    return true;
  }
  clock_.sleep(thread, time);
  return false;
}

void Simulation::wake_all(std::vector<ThreadIndex>& waiting) {
  for (const ThreadIndex thread : waiting) clock_.sleep(thread, kWakeUp);
  waiting.clear();
}

void Simulation::start(ReplayBuffer& buffer, BufferIndex index) {
  buffer.is_started = true;
  const bool is_dispatcher = buffer.producer->kind == Producer::Kind::dispatcher;
  for (std::int64_t count = 0; count < (is_dispatcher ? 1 : buffer.producer->threads); ++count) {
    add_thread(is_dispatcher ? ReplayThread::Role::dispatcher : ReplayThread::Role::feeder).buffer = index;
  }
}

void Simulation::start_job(BufferIndex buffer, std::size_t slot) {
  ReplayThread& thread = add_thread(ReplayThread::Role::job);
  thread.buffer = buffer;
  thread.slot = slot;
  const std::vector<Job>& jobs = buffer_at(buffer).producer->jobs;
  if (!jobs.empty()) thread.job = jobs[buffer_at(buffer).next_job++ % jobs.size()];
}

/// Whether another thread makes the element that this one has begun.
bool Simulation::make_beside(ThreadIndex index) {
  ReplayBuffer& buffer = buffer_at(at(index).buffer);
  const Producer& producer = *buffer.producer;
  buffer.made_beside = std::min(1.0, buffer.made_beside) + producer.share_made_beside;
  if (buffer.made_beside < 1 || buffer.in_work >= producer.most_made_beside) return false;
  buffer.made_beside -= 1;
  ++buffer.in_work;
  const ReplayThread begun = at(index);
  ReplayThread& beside = add_thread(ReplayThread::Role::feeder);
  beside = begun;
  beside.is_beside = true;
  at(index).has_element = false;
  return true;
}

/// Whether an element could be taken out of the buffer; otherwise the thread waits for one. The threads that are there
/// may move.
[[gnu::always_inline]] inline bool Simulation::take(ThreadIndex index, BufferIndex buffer_index) {
  ReplayBuffer& buffer = buffer_at(buffer_index);
  if (!buffer.is_started) start(buffer, buffer_index);
  ReplayThread& thread = at(index);
  thread.phase = ReplayThread::Phase::taking;
  if (!(buffer.producer->batch > 1 ? buffer.take_batch() : buffer.take())) {
    if (thread.waits_since == kNotWaiting) thread.waits_since = clock_.now();
    buffer.takers.push_back(index);
    buffer.grow();
    if (buffer.next_program >= buffer.end_program) wake(buffer.makers);
    return false;
  }
  if (thread.waits_since != kNotWaiting) {
    const bool is_consumer = thread.role == ReplayThread::Role::consumer;
    const BufferIndex who = !is_consumer ? thread.buffer : thread.consumer == 0 ? kOfConsumer : kOfOtherConsumer;
    add_waiting(thread, starved(who, buffer_index));
  }
  thread.wakes_maker = !buffer.makers.empty();
  wake(buffer.makers);
  return true;
}

/// Goes on with the thread's program; returns whether it is at its end. Otherwise something will wake the thread.
[[gnu::always_inline]] inline bool Simulation::play(ThreadIndex index) {
  using Phase = ReplayThread::Phase;
  const Action* const actions = programs_.actions.data();
  ReplayThread* thread = &at(index);
  while (thread->next_action < thread->end_action) {
    const Action& action = actions[thread->next_action];
    if (action.pull != kNoStage && thread->phase != Phase::working && thread->phase != Phase::waiting) {
      if (!take(index, buffer_of_action_.data()[thread->next_action])) return false;
      thread = &at(index);
    }
    if (thread->phase == Phase::begin || thread->phase == Phase::taking) {
      thread->phase = Phase::working;
      if (action.holds_pool_thread) {
        if (!has_free_pool_thread()) {
          thread->phase = Phase::begin;
          is_pool_used_up_ = true;
          wait_for_pool_.push_back(index);
          return false;
        }
        ++clock_.pool_threads_in_use;
      }
      if (action.cpu > 0) {
        const double waking = std::exchange(thread->wakes_maker, false) ? kWakeMaker : 0;
        if (!work(index, programs_.cpu_scale * double{action.cpu} + waking, action.cores)) return false;
      }
    }
    if (thread->phase == Phase::working) {
      thread->phase = Phase::waiting;
      if (action.wait > 0 && !sleep(index, action.wait)) return false;
    }
    if (action.holds_pool_thread) release_pool_thread();
    thread->phase = Phase::begin;
    ++thread->next_action;
  }
  return true;
}

[[gnu::always_inline]] inline void Simulation::run_consumer(ThreadIndex index) {
  const Programs::Consumer& consumer = programs_.consumers[at(index).consumer];
  while (!is_done_) {
    if (at(index).has_element) {
      if (!play(index)) return;
      ++at(index).step;
    }
    ReplayThread& thread = at(index);
    const std::size_t step = thread.step % consumer.steps.size();
    if (thread.consumer == 0) {
      // Of pipelines that are made anew again and again the first iteration follows the last one likewise.
      if (step == 0 && thread.step > 0) {
        for (const IteratorId pipeline : iterating_) begin_iteration(pipeline, /*is_first=*/true);
      }
      if (consumer.begins_iteration[step] != kNoIterator) begin_iteration(consumer.begins_iteration[step], false);
      marks_.push_back(clock_.now());
      is_done_ = marks_.size() > wanted_steps_;
      most_events_ = most_events();
    }
    thread.has_element = true;
    thread.next_action = consumer.steps[step].first;
    thread.end_action = consumer.steps[step].end;
  }
}

[[gnu::always_inline]] inline void Simulation::run_maker(ThreadIndex index) {
  const BufferIndex buffer_index = at(index).buffer;
  ReplayBuffer& buffer = buffer_at(buffer_index);
  const Producer& producer = *buffer.producer;
  const bool dispatches = at(index).role == ReplayThread::Role::dispatcher;
  while (true) {
    if (at(index).has_element) {
      if (!play(index)) return;
      at(index).has_element = false;
      if (dispatches) {
        start_job(buffer_index, at(index).slot);
      } else {
        buffer.finish_element(at(index).slot);
        wake(buffer.takers);
      }
      if (at(index).is_beside) {
        --buffer.in_work;
        return free_threads_.push_back(index);
      }
    }
    ReplayThread& thread = at(index);
    const bool has_calls = !dispatches || buffer.in_work < producer.parallelism;
    if (buffer.held >= buffer.limit) {
      buffer.was_full = buffer.is_full_since_growth = true;
      if (dispatches && has_calls && !buffer.takers.empty() && buffer.limit < producer.largest_limit)
        buffer.limit += producer.batch;
    }
    const bool is_full = !has_calls || buffer.held >= buffer.limit;
    if (is_full || (buffer.has_iterations && buffer.is_at_end())) {
      if (thread.waits_since == kNotWaiting) thread.waits_since = clock_.now();
      buffer.makers.push_back(index);
      return;
    }
    if (thread.waits_since != kNotWaiting) add_waiting(thread, buffer.full_time);
    thread.slot = buffer.begin_element();
    if (dispatches) ++buffer.in_work;
    const Program& program = buffer.take_program();
    if (buffer.repeats) repeat(buffer);
    thread.has_element = true;
    thread.next_action = program.first;
    thread.end_action = program.end;
    // Of work that takes no time there would be no end.
    if (program.first == program.end) {
      clock_.sleep(index, 1);
      return;
    }
    if (producer.share_made_beside > 0 && make_beside(index)) continue;
  }
}

[[gnu::always_inline]] inline void Simulation::run_job(ThreadIndex index) {
  ReplayThread& thread = at(index);
  if (thread.phase == ReplayThread::Phase::begin && thread.job.calling > 0) {
    thread.phase = ReplayThread::Phase::taking;
    if (!sleep(index, thread.job.calling)) return;
  }
  if (thread.phase == ReplayThread::Phase::begin || thread.phase == ReplayThread::Phase::taking) {
    if (!has_free_pool_thread()) {
      is_pool_used_up_ = true;
      return wait_for_pool_.push_back(index);
    }
    ++clock_.pool_threads_in_use;
    thread.phase = ReplayThread::Phase::working;
    const double cpu = programs_.cpu_scale * double{thread.job.cpu};
    if (thread.job.cpu > 0 && !work(index, cpu, programs_.cores_per_job)) return;
  }
  if (thread.phase == ReplayThread::Phase::working && thread.job.python > 0) {
    if (programs_.jobs_hold_python && python_is_held_) return wait_for_python_.push_back(index);
    python_is_held_ = programs_.jobs_hold_python;
    thread.phase = ReplayThread::Phase::waiting;
    if (!sleep(index, thread.job.python)) return;
  }
  if (thread.phase == ReplayThread::Phase::waiting && programs_.jobs_hold_python) {
    python_is_held_ = false;
    wake(wait_for_python_);
  }
  release_pool_thread();
  ReplayBuffer& buffer = buffer_at(thread.buffer);
  --buffer.in_work;
  buffer.finish_element(thread.slot);
  wake(buffer.takers);
  wake(buffer.makers);
  free_threads_.push_back(index);
}

[[gnu::always_inline]] inline void Simulation::run_thread(ThreadIndex index) {
  switch (at(index).role) {
    case ReplayThread::Role::consumer:
      return run_consumer(index);
    case ReplayThread::Role::job:
      return run_job(index);
    default:
      return run_maker(index);
  }
}

/// The next of the threads that go on now; nullopt if there is none.
[[gnu::always_inline]] inline std::optional<ThreadIndex> Simulation::take_ready() {
  if (next_ready_ < ready_.size()) return ready_.data()[next_ready_++];
  ready_.clear();
  next_ready_ = 0;
  return std::nullopt;
}

/// Events after which it is cut off, as far as it has got.
std::size_t Simulation::most_events() const {
  if (marks_.size() > steps_of_sample_) return limits_.events;
  const std::size_t times = marks_.size() < kFewestMarks ? kTimesLonger : limits_.steps > 0 ? kTimesForSteps : 1;
  return times * limits_.events_for_sample;
}

Replay Simulation::run() {
  Replay result;
  if (programs_.consumers.empty()) return result;
  most_events_ = most_events();
  std::optional<ThreadIndex> next = take_ready();
  while (!is_done_ && events_ < most_events_) {
    for (; next && !is_done_; next = take_ready()) {
      ++events_;
      run_thread(*next);
    }
    if (!is_done_) next = clock_.advance();
    if (!next) break;
  }
  result.events = events_;
  result.steps_per_s = rate();
  if (result.steps_per_s > 0) {
    result.first_step = first_step();
    result.end_step = marks_.size() - 1;
    result.is_cut_off = !is_done_;
  }
  if (clock_.now() > 0) {
    result.cores_in_use = clock_.core_time() / clock_.now();
    result.pool_in_use = clock_.pool_time() / clock_.now();
    result.limited_by = find_bottleneck();
    result.is_pool_used_up = is_pool_used_up_;
    for (const auto& [stage, buffer] : buffer_of_) {
      if (!buffers_[buffer].was_full) result.never_full.emplace_back(stage, buffers_[buffer].limit);
    }
    double waited = 0;
    for (const auto& [who, time] : starved_) waited += who.first == kOfConsumer ? time : 0;
    result.input_share = (waited + own_time_in_get_next(waited)) / clock_.now();
  }
  return result;
}

Replay replay(const Programs& programs, const ReplayLimits& limits) {
  return Simulation(programs, limits).run();
}

}  // namespace doctor
