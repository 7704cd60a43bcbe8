#include "model/replay.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <set>
#include <vector>

namespace doctor {
namespace {

/// A thread that waits goes on so many us after what it waits for has happened. Source: medians from a closure's Record
/// to its StartRegion in traces of TF 2.15 and 2.21 are 1 to 16 us, the slowest tenth 11 to 100.
constexpr double kWakeUp = 20;

using ThreadIndex = std::uint32_t;
using BufferIndex = std::uint32_t;

/// Elements in the order in which they were begun.
struct Buffer {
  enum class Slot : std::uint8_t { begun, ready, taken };

  const Producer* producer = nullptr;
  std::deque<Slot> slots;
  std::size_t first_slot = 0;  ///< number of the first of `slots`
  std::int64_t held = 0;       ///< slots that are not taken
  std::int64_t in_work = 0;    ///< of a dispatcher: jobs that are not done
  std::size_t next_program = 0;
  std::size_t next_job = 0;
  std::size_t end_program = 0;  ///< of the iteration: the next one has to begin first
  std::uint32_t iteration = 0;
  bool has_iterations = false;  ///< its pipeline is made anew in the sample
  bool is_started = false;
  std::vector<ThreadIndex> takers;  ///< wait for an element
  std::vector<ThreadIndex> makers;  ///< wait for room
  double full_time = 0;             ///< for which its makers waited for room, all together

  std::int64_t limit = 0;         ///< of `held`
  std::size_t leading_ready = 0;  ///< of `slots`: the first so many are ready

  std::size_t begin_element() {
    slots.push_back(Slot::begun);
    ++held;
    return first_slot + slots.size() - 1;
  }
  void finish_element(std::size_t slot) {
    // Where the order does not matter, it goes into the batch that is taken next.
    if (producer->is_unordered && producer->batch > 1) slot = first_slot + count_leading();
    if (slot >= first_slot && slot - first_slot < slots.size()) slots[slot - first_slot] = Slot::ready;
  }
  /// Takes a whole batch of a fused map and batch, of which no part can be taken.
  bool take_batch() {
    const auto batch = static_cast<std::size_t>(producer->batch);
    if (count_leading() < batch) return false;
    leading_ready -= batch;
    held -= producer->batch;
    first_slot += batch;
    slots.erase(slots.begin(), slots.begin() + producer->batch);
    return true;
  }
  bool take() {
    const auto found = producer->is_unordered ? std::find(slots.begin(), slots.end(), Slot::ready) : slots.begin();
    if (found == slots.end() || *found != Slot::ready) return false;
    *found = Slot::taken;
    --held;
    drop_taken();
    return true;
  }
  /// What was made for the iteration before is gone; what is in work will be for nobody.
  void begin_iteration() {
    held = 0;
    leading_ready = 0;
    first_slot += slots.size();
    slots.clear();
    const std::vector<std::uint32_t>& iterations = producer->iterations;
    const auto [first, end] = std::equal_range(iterations.begin(), iterations.end(), iteration);
    if (first == end) return;
    next_program = static_cast<std::size_t>(first - iterations.begin());
    end_program = static_cast<std::size_t>(end - iterations.begin());
    next_job = producer->jobs.size() * next_program / producer->programs.size();
  }
  /// Whether the elements of the iteration are all made, and nobody waits for more.
  bool is_at_end() const { return next_program >= end_program && takers.empty(); }
  const Program& take_program() {
    // The window may cut off a part of what an iteration needs: then it begins from its start.
    if (next_program >= end_program) {
      const std::uint32_t last = producer->iterations[std::max<std::size_t>(end_program, 1) - 1];
      const auto first = std::lower_bound(producer->iterations.begin(), producer->iterations.end(), last);
      next_program = static_cast<std::size_t>(first - producer->iterations.begin());
    }
    return producer->programs[next_program++];
  }

 private:
  std::size_t count_leading() {
    while (leading_ready < slots.size() && slots[leading_ready] == Slot::ready) ++leading_ready;
    return leading_ready;
  }
  void drop_taken() {
    while (!slots.empty() && slots.front() == Slot::taken) {
      slots.pop_front();
      ++first_slot;
    }
  }
};

constexpr double kNotWaiting = -1;

struct Thread {
  enum class Role : std::uint8_t { consumer, feeder, dispatcher, job };
  enum class Phase : std::uint8_t { begin, working, waiting, taking, done };
  Role role = Role::consumer;
  Phase phase = Phase::begin;
  bool has_element = false;    ///< of a maker: it works on the element `slot`
  std::uint32_t consumer = 0;  ///< into Programs::consumers
  BufferIndex buffer = 0;      ///< that it fills
  std::size_t slot = 0;
  std::uint32_t next_action = 0;
  std::uint32_t end_action = 0;
  std::int64_t takes_left = 0;
  std::size_t step = 0;              ///< of a consumer
  double waits_since = kNotWaiting;  ///< for an element, or for room
  Job job;
};

class Simulation {
 public:
  Simulation(const Programs& programs, const ReplayLimits& limits);

  Replay run();

 private:
  struct OnCore {
    double until = 0;  ///< on the clock of the cores
    std::uint64_t order = 0;
    double cores = 1;
    ThreadIndex thread = 0;
    bool operator>(const OnCore& other) const {
      return until != other.until ? until > other.until : order > other.order;
    }
  };
  struct Asleep {
    double until = 0;
    std::uint64_t order = 0;
    ThreadIndex thread = 0;
    bool operator>(const Asleep& other) const {
      return until != other.until ? until > other.until : order > other.order;
    }
  };
  template <typename T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<T>>;

  void use_core(ThreadIndex thread, double cpu, double cores);
  void sleep(ThreadIndex thread, double time) { asleep_.push({now_ + time, ++order_, thread}); }
  void wake(std::vector<ThreadIndex>& waiting);
  /// A thread of the pool that gets free runs what was queued first, at once.
  void release_pool_thread() {
    ++free_pool_threads_;
    if (wait_for_pool_.empty()) return;
    ready_.push_back(wait_for_pool_.front());
    wait_for_pool_.pop_front();
  }
  bool advance();
  void run_thread(ThreadIndex thread);
  bool play(ThreadIndex thread);
  bool take(ThreadIndex thread, const Action& action);
  void run_consumer(ThreadIndex thread);
  void run_maker(ThreadIndex thread);
  void run_job(ThreadIndex thread);
  void start(Buffer& buffer, BufferIndex index);
  void start_job(BufferIndex buffer, std::size_t slot);
  ThreadIndex add_thread(Thread thread);
  void begin_iteration(IteratorId pipeline, bool is_first);
  std::size_t first_step() const;
  double rate() const;
  void add_waiting(Thread& thread, double& sum) const;
  Bottleneck find_bottleneck() const;
  std::pair<BufferIndex, double> longest_starved(BufferIndex who) const;
  double own_time_in_get_next(double waited) const;
  Bottleneck bottleneck_of(StageIndex stage, const Buffer& buffer) const;

  const Programs& programs_;
  const ReplayLimits limits_;
  std::size_t wanted_steps_ = 0;
  std::size_t steps_of_sample_ = 0;  ///< as many as go through it twice, at most the usual number
  std::vector<Buffer> buffers_;
  std::map<StageIndex, BufferIndex> buffer_of_;
  std::vector<BufferIndex> buffer_of_action_;  ///< indexed as the actions
  std::deque<Thread> threads_;
  std::vector<ThreadIndex> free_threads_;
  std::deque<ThreadIndex> ready_;
  Earliest<OnCore> on_cores_;
  Earliest<Asleep> asleep_;
  double now_ = 0;         ///< us
  double core_clock_ = 0;  ///< runs slower than `now_` while more cores are wanted than there are
  double wanted_cores_ = 0;
  double core_time_ = 0;
  double pool_time_ = 0;
  std::uint64_t order_ = 0;
  std::int64_t free_pool_threads_;
  std::deque<ThreadIndex> wait_for_pool_;
  bool python_is_held_ = false;
  std::vector<ThreadIndex> wait_for_python_;
  std::vector<double> marks_;  ///< when the first consumer began its steps
  bool is_done_ = false;
  std::set<IteratorId> iterating_;  ///< pipelines that are made anew in the sample
  /// Who waited for an element of which buffer, and how long. Of a maker the buffer that it fills; the first consumer
  /// is kOfConsumer.
  std::map<std::pair<BufferIndex, BufferIndex>, double> starved_;
};

constexpr BufferIndex kOfConsumer = std::numeric_limits<BufferIndex>::max();
constexpr BufferIndex kOfOtherConsumer = kOfConsumer - 1;

Simulation::Simulation(const Programs& programs, const ReplayLimits& limits)
    : programs_(programs), limits_(limits), free_pool_threads_(programs.pool_threads) {
  for (const auto& [stage, producer] : programs.producers) {
    buffer_of_[stage] = static_cast<BufferIndex>(buffers_.size());
    Buffer& buffer = buffers_.emplace_back();
    buffer.producer = &producer;
    buffer.limit = producer.limit;
    buffer.end_program = producer.programs.size();
  }
  for (const Action& action : programs.actions) {
    const auto found = buffer_of_.find(action.pull);
    buffer_of_action_.push_back(found == buffer_of_.end() ? 0 : found->second);
  }
  if (!programs.consumers.empty()) {
    const std::vector<IteratorId>& begins = programs.consumers.front().begins_iteration;
    iterating_ = std::set<IteratorId>(begins.begin(), begins.end());
    iterating_.erase(kNoIterator);
  }
  for (Buffer& buffer : buffers_) {
    buffer.has_iterations = iterating_.contains(buffer.producer->pipeline);
    if (buffer.has_iterations) buffer.begin_iteration();
  }
  constexpr std::size_t kUsualSteps = 80;
  for (std::uint32_t consumer = 0; consumer < programs.consumers.size(); ++consumer) {
    Thread thread;
    thread.consumer = consumer;
    ready_.push_back(add_thread(thread));
    const std::size_t steps = programs.consumers[consumer].steps.size();
    if (consumer != 0) continue;
    wanted_steps_ = std::max(2 * steps, std::min(kUsualSteps, 4 * steps));
    steps_of_sample_ = std::min(2 * steps, kUsualSteps);
  }
}

ThreadIndex Simulation::add_thread(Thread thread) {
  if (free_threads_.empty()) {
    threads_.push_back(thread);
    return static_cast<ThreadIndex>(threads_.size() - 1);
  }
  const ThreadIndex index = free_threads_.back();
  free_threads_.pop_back();
  threads_[index] = thread;
  return index;
}

void Simulation::use_core(ThreadIndex thread, double cpu, double cores) {
  on_cores_.push({core_clock_ + cpu, ++order_, cores, thread});
  wanted_cores_ += cores;
}

void Simulation::wake(std::vector<ThreadIndex>& waiting) {
  for (const ThreadIndex thread : waiting) sleep(thread, kWakeUp);
  waiting.clear();
}

void Simulation::start(Buffer& buffer, BufferIndex index) {
  if (buffer.is_started) return;
  buffer.is_started = true;
  const bool is_dispatcher = buffer.producer->kind == Producer::Kind::dispatcher;
  for (std::int64_t count = 0; count < (is_dispatcher ? 1 : buffer.producer->threads); ++count) {
    Thread thread;
    thread.role = is_dispatcher ? Thread::Role::dispatcher : Thread::Role::feeder;
    thread.buffer = index;
    ready_.push_back(add_thread(thread));
  }
}

void Simulation::start_job(BufferIndex buffer, std::size_t slot) {
  Thread thread;
  thread.role = Thread::Role::job;
  thread.buffer = buffer;
  thread.slot = slot;
  const std::vector<Job>& jobs = buffers_[buffer].producer->jobs;
  if (!jobs.empty()) thread.job = jobs[buffers_[buffer].next_job++ % jobs.size()];
  ready_.push_back(add_thread(thread));
}

/// Whether an element could be taken; otherwise the thread waits for one.
bool Simulation::take(ThreadIndex index, const Action& action) {
  Thread& thread = threads_[index];
  const BufferIndex buffer_index = buffer_of_action_[static_cast<std::size_t>(&action - programs_.actions.data())];
  Buffer& buffer = buffers_[buffer_index];
  start(buffer, buffer_index);
  if (thread.phase == Thread::Phase::begin) {
    thread.takes_left = 1;
    thread.phase = Thread::Phase::taking;
  }
  for (; thread.takes_left > 0; --thread.takes_left) {
    if (!(buffer.producer->batch > 1 ? buffer.take_batch() : buffer.take())) {
      if (thread.waits_since == kNotWaiting) thread.waits_since = now_;
      buffer.takers.push_back(index);
      if (buffer.next_program >= buffer.end_program) wake(buffer.makers);
      return false;
    }
    if (thread.waits_since != kNotWaiting) {
      const bool is_consumer = thread.role == Thread::Role::consumer;
      const BufferIndex who = !is_consumer ? thread.buffer : thread.consumer == 0 ? kOfConsumer : kOfOtherConsumer;
      add_waiting(thread, starved_[{who, buffer_index}]);
    }
    wake(buffer.makers);
  }
  return true;
}

/// Goes on with the thread's program; returns whether it is at its end. Otherwise something will wake the thread.
bool Simulation::play(ThreadIndex index) {
  Thread& thread = threads_[index];
  while (thread.next_action < thread.end_action) {
    const Action& action = programs_.actions[thread.next_action];
    const bool takes =
        action.pull != kNoStage && thread.phase != Thread::Phase::working && thread.phase != Thread::Phase::waiting;
    if (takes && !take(index, action)) return false;
    if (thread.phase == Thread::Phase::begin || thread.phase == Thread::Phase::taking) {
      thread.phase = Thread::Phase::working;
      if (action.holds_pool_thread) {
        if (free_pool_threads_ <= 0) {
          thread.phase = Thread::Phase::begin;
          wait_for_pool_.push_back(index);
          return false;
        }
        --free_pool_threads_;
      }
      if (action.cpu > 0) {
        use_core(index, programs_.cpu_scale * double{action.cpu}, action.cores);
        return false;
      }
    }
    if (thread.phase == Thread::Phase::working) {
      thread.phase = Thread::Phase::waiting;
      if (action.wait > 0) {
        sleep(index, action.wait);
        return false;
      }
    }
    if (action.holds_pool_thread) release_pool_thread();
    thread.phase = Thread::Phase::begin;
    ++thread.next_action;
  }
  return true;
}

/// The pipeline's iterator is made anew: what is in its buffers is gone.
void Simulation::begin_iteration(IteratorId pipeline, bool is_first) {
  for (Buffer& buffer : buffers_) {
    if (buffer.producer->pipeline != pipeline) continue;
    buffer.iteration = is_first ? 0 : buffer.iteration + 1;
    buffer.begin_iteration();
    wake(buffer.makers);
  }
}

void Simulation::run_consumer(ThreadIndex index) {
  Thread& thread = threads_[index];
  const Programs::Consumer& consumer = programs_.consumers[thread.consumer];
  while (!is_done_) {
    if (thread.has_element) {
      if (!play(index)) return;
      ++thread.step;
    }
    const std::size_t step = thread.step % consumer.steps.size();
    if (thread.consumer == 0) {
      // Of pipelines that are made anew again and again the first iteration follows the last one likewise.
      if (step == 0 && thread.step > 0) {
        for (const IteratorId pipeline : iterating_) begin_iteration(pipeline, /*is_first=*/true);
      }
      if (consumer.begins_iteration[step] != kNoIterator) begin_iteration(consumer.begins_iteration[step], false);
      marks_.push_back(now_);
      is_done_ = marks_.size() > wanted_steps_;
    }
    thread.has_element = true;
    thread.next_action = consumer.steps[step].first;
    thread.end_action = consumer.steps[step].end;
  }
}

void Simulation::run_maker(ThreadIndex index) {
  Thread& thread = threads_[index];
  Buffer& buffer = buffers_[thread.buffer];
  const Producer& producer = *buffer.producer;
  const bool dispatches = thread.role == Thread::Role::dispatcher;
  while (true) {
    if (thread.has_element) {
      if (!play(index)) return;
      thread.has_element = false;
      if (dispatches) {
        start_job(thread.buffer, thread.slot);
      } else {
        buffer.finish_element(thread.slot);
        wake(buffer.takers);
      }
    }
    const bool has_calls = !dispatches || buffer.in_work < producer.parallelism;
    if (has_calls && buffer.held >= buffer.limit && !buffer.takers.empty() && buffer.limit < producer.largest_limit) {
      buffer.limit += producer.batch;
    }
    const bool is_full = !has_calls || buffer.held >= buffer.limit;
    if (is_full || (buffer.has_iterations && buffer.is_at_end())) {
      if (thread.waits_since == kNotWaiting) thread.waits_since = now_;
      buffer.makers.push_back(index);
      return;
    }
    if (thread.waits_since != kNotWaiting) add_waiting(thread, buffer.full_time);
    thread.slot = buffer.begin_element();
    if (dispatches) ++buffer.in_work;
    const Program& program = buffer.take_program();
    thread.has_element = true;
    thread.next_action = program.first;
    thread.end_action = program.end;
    // Of work that takes no time there would be no end.
    if (program.first == program.end) {
      sleep(index, 1);
      return;
    }
  }
}

void Simulation::run_job(ThreadIndex index) {
  Thread& thread = threads_[index];
  if (thread.phase == Thread::Phase::begin && thread.job.calling > 0) {
    thread.phase = Thread::Phase::taking;
    return sleep(index, thread.job.calling);
  }
  if (thread.phase == Thread::Phase::begin || thread.phase == Thread::Phase::taking) {
    if (free_pool_threads_ <= 0) return wait_for_pool_.push_back(index);
    --free_pool_threads_;
    thread.phase = Thread::Phase::working;
    if (thread.job.cpu > 0)
      return use_core(index, programs_.cpu_scale * double{thread.job.cpu}, programs_.cores_per_job);
  }
  if (thread.phase == Thread::Phase::working) {
    if (thread.job.python > 0) {
      if (programs_.jobs_hold_python && python_is_held_) return wait_for_python_.push_back(index);
      python_is_held_ = programs_.jobs_hold_python;
      thread.phase = Thread::Phase::waiting;
      return sleep(index, thread.job.python);
    }
  } else if (programs_.jobs_hold_python) {
    python_is_held_ = false;
    wake(wait_for_python_);
  }
  release_pool_thread();
  Buffer& buffer = buffers_[thread.buffer];
  --buffer.in_work;
  buffer.finish_element(thread.slot);
  wake(buffer.takers);
  wake(buffer.makers);
  free_threads_.push_back(index);
}

void Simulation::run_thread(ThreadIndex index) {
  switch (threads_[index].role) {
    case Thread::Role::consumer:
      return run_consumer(index);
    case Thread::Role::job:
      return run_job(index);
    default:
      return run_maker(index);
  }
}

/// Lets time pass until a thread goes on; false if none ever will.
bool Simulation::advance() {
  if (on_cores_.empty() && asleep_.empty()) return false;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto cores = static_cast<double>(programs_.cores);
  const double speed = wanted_cores_ <= cores ? 1.0 : cores / wanted_cores_;
  const double core_due =
      on_cores_.empty() ? kNever : now_ + std::max(0.0, on_cores_.top().until - core_clock_) / speed;
  const double sleep_due = asleep_.empty() ? kNever : asleep_.top().until;
  const double due = std::min(core_due, sleep_due);
  core_time_ += std::min(wanted_cores_, cores) * (due - now_);
  pool_time_ += static_cast<double>(programs_.pool_threads - free_pool_threads_) * (due - now_);
  core_clock_ += (due - now_) * speed;
  now_ = due;
  if (core_due <= sleep_due) {
    const OnCore done = on_cores_.top();
    on_cores_.pop();
    core_clock_ = std::max(core_clock_, done.until);
    wanted_cores_ = on_cores_.empty() ? 0 : wanted_cores_ - done.cores;
    ready_.push_back(done.thread);
  } else {
    ready_.push_back(asleep_.top().thread);
    asleep_.pop();
  }
  return true;
}

/// Where the steps begin of which the rate is: whole times through the sample, and not the first one, in which buffers
/// fill; if there is but one, without its first third.
std::size_t Simulation::first_step() const {
  const std::size_t steps = programs_.consumers.front().steps.size();
  const std::size_t passed = marks_.size() - 1;
  const std::size_t times = passed / steps;
  return times >= 2 ? passed - (times - 1) * steps : std::max<std::size_t>(1, marks_.size() / 3);
}

double Simulation::rate() const {
  if (marks_.size() < 3 || programs_.consumers.empty()) return 0;
  const double time = marks_.back() - marks_[first_step()];
  return time > 0 ? 1e6 * static_cast<double>(marks_.size() - 1 - first_step()) / time : 0;
}

void Simulation::add_waiting(Thread& thread, double& sum) const {
  sum += now_ - thread.waits_since;
  thread.waits_since = kNotWaiting;
}

/// What limits the makers of a buffer that somebody waits for, and that wait for nobody themselves.
Bottleneck Simulation::bottleneck_of(StageIndex stage, const Buffer& buffer) const {
  constexpr double kInUse = 0.9;
  const Producer& producer = *buffer.producer;
  const bool cores_are_used = core_time_ > kInUse * static_cast<double>(programs_.cores) * now_;
  const bool is_dispatcher = producer.kind == Producer::Kind::dispatcher;
  // A dispatcher that seldom waits for room is busy with its input.
  const bool input_is_slow = is_dispatcher && 2 * buffer.full_time < now_;
  if (cores_are_used)
    return {Resource::cores, is_dispatcher && !input_is_slow ? stage : producer.busiest, programs_.cores};
  const bool pool_is_used = pool_time_ > kInUse * static_cast<double>(programs_.pool_threads) * now_;
  if (!is_dispatcher && pool_is_used && producer.threads > programs_.pool_threads)
    return {Resource::pool, producer.busiest, programs_.pool_threads};
  if (!is_dispatcher || input_is_slow)
    return {Resource::thread, producer.busiest, is_dispatcher ? 1 : producer.threads};
  if (programs_.jobs_hold_python) return {Resource::python, stage};
  if (pool_is_used) return {Resource::pool, stage, programs_.pool_threads};
  return {Resource::calls, stage, producer.parallelism};
}

/// The buffer that the makers of another one, or the first consumer, wait for longest, and how long; kOfConsumer if
/// they wait for none.
std::pair<BufferIndex, double> Simulation::longest_starved(BufferIndex who) const {
  std::pair<BufferIndex, double> most{kOfConsumer, 0};
  for (auto wait = starved_.lower_bound({who, 0}); wait != starved_.end() && wait->first.first == who; ++wait) {
    if (wait->second > most.second) most = {wait->first.second, wait->second};
  }
  return most;
}

/// For how long the first consumer works in GetNext on its own thread.
double Simulation::own_time_in_get_next(double waited) const {
  const Programs::Consumer& consumer = programs_.consumers.front();
  const double work = consumer.get_next_work + consumer.gaps;
  return work > 0 ? consumer.get_next_work / work * (now_ - waited) : 0;
}

/// Goes from the consumer to where nobody waits any more.
Bottleneck Simulation::find_bottleneck() const {
  constexpr double kHardlyWaits = 0.05;
  constexpr double kSometimesWaits = 0.1;
  if (now_ <= 0) return {};
  const auto [first, waited] = longest_starved(kOfConsumer);
  auto buffer = first;  // a name that a lambda may capture: clang 14 refuses structured bindings
  const double own = own_time_in_get_next(waited);
  if (waited + own < kHardlyWaits * now_) return {};
  if (waited <= own) {
    const double gaps = now_ - waited - own;
    return own >= gaps ? Bottleneck{Resource::thread, programs_.consumers.front().busiest} : Bottleneck{};
  }
  std::vector<bool> is_known(buffers_.size());
  while (!is_known[buffer]) {
    is_known[buffer] = true;
    const auto [next, starved] = longest_starved(buffer);
    const Producer& producer = *buffers_[buffer].producer;
    const auto threads = static_cast<double>(producer.kind == Producer::Kind::feeder ? producer.threads : 1);
    // What limits the others never waits for its own input.
    if (next == kOfConsumer || starved < kSometimesWaits * threads * now_ || starved < buffers_[buffer].full_time)
      break;
    buffer = next;
  }
  const auto stage =
      std::find_if(buffer_of_.begin(), buffer_of_.end(), [&](const auto& of) { return of.second == buffer; });
  return bottleneck_of(stage->first, buffers_[buffer]);
}

Replay Simulation::run() {
  Replay result;
  if (programs_.consumers.empty()) return result;
  const auto may_go_on = [&] {
    return result.events < (marks_.size() > steps_of_sample_ ? limits_.events : limits_.events_for_sample);
  };
  while (!is_done_ && may_go_on()) {
    while (!ready_.empty() && !is_done_) {
      const ThreadIndex thread = ready_.front();
      ready_.pop_front();
      ++result.events;
      run_thread(thread);
    }
    if (!is_done_ && !advance()) break;
  }
  result.steps_per_s = rate();
  if (result.steps_per_s > 0) {
    result.first_step = first_step();
    result.end_step = marks_.size() - 1;
  }
  if (now_ > 0) {
    result.cores_in_use = core_time_ / now_;
    result.pool_in_use = pool_time_ / now_;
    result.limited_by = find_bottleneck();
    double waited = 0;
    for (const auto& [who, time] : starved_) waited += who.first == kOfConsumer ? time : 0;
    result.input_share = (waited + own_time_in_get_next(waited)) / now_;
  }
  return result;
}

}  // namespace

Replay replay(const Programs& programs, const ReplayLimits& limits) {
  return Simulation(programs, limits).run();
}

}  // namespace doctor
