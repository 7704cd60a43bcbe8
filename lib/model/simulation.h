#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "model/replay.h"
#include "model/replay_buffer.h"

namespace doctor {

/// A queue whose smallest element by `operator>` comes first. In nearly all replays it has few elements, which are kept
/// sorted, because that costs less than a heap. If there are many, the later ones are in a heap.
template <typename T>
class Earliest {
 public:
  bool empty() const { return count_ == 0; }
  const T& top() const { return near_.data()[count_ - 1]; }

  [[gnu::always_inline]] void push(const T& added) {
    T* const near = near_.data();
    const bool is_full = count_ == kNear;
    if ((is_full || !far_.empty()) && added > near[0]) return far_.push(added);
    if (is_full) make_room();
    std::size_t place = count_++;
    for (; place > 0 && added > near[place - 1]; --place) near[place] = near[place - 1];
    near[place] = added;
  }

  [[gnu::always_inline]] void pop() {
    if (--count_ > 0 || far_.empty()) return;
    near_[count_++] = far_.top();
    far_.pop();
  }

 private:
  static constexpr std::size_t kNear = 32;  // fits into a few lines of the cache

  void make_room() {
    far_.push(near_.front());
    std::move(near_.begin() + 1, near_.end(), near_.begin());
    --count_;
  }

  // These are the most frequent lines of a replay: indices are the queue's own, and are not checked.
  /// the first `count_` are used: the earliest elements, with the very first of them at the end
  std::array<T, kNear> near_{};
  std::size_t count_ = 0;                                        ///< 0 only if the queue is empty
  std::priority_queue<T, std::vector<T>, std::greater<T>> far_;  ///< the others, none of which is earlier
};

/// The time of a replay, in us, and the threads that it wakes: those that sleep, and those that use a core until their
/// work is done. Cores are shared equally among all threads that need one. Events due at the same time come in the
/// order in which they were planned.
///
/// Every event runs all of it, so it is inlined by force.
class ReplayClock {
 public:
  explicit ReplayClock(double cores) : cores_(cores) {}

  double now() const { return now_; }
  double core_time() const { return core_time_; }  ///< us of cores that were used
  double pool_time() const { return pool_time_; }  ///< us of pool threads that were used

  [[gnu::always_inline]] void sleep(ThreadIndex thread, double time) {
    asleep_.push({{now_ + time, ++order_}, thread});
  }

  [[gnu::always_inline]] void use_core(ThreadIndex thread, double cpu, double cores) {
    on_cores_.push({{core_clock_ + cpu, ++order_}, cores, thread});
    share_cores(wanted_cores_ + cores);
  }

  /// Sleeps without a queue if the sleeper will be the next thread to run: time passes at once. All numbers become what
  /// they would have become with the queue. Returns true if it did so.
  [[gnu::always_inline]] bool sleep_at_once(double time) {
    const double until = now_ + time;
    if (!asleep_.empty() && asleep_.top().until.time() <= until) return false;
    if (!on_cores_.empty() && due(on_cores_.top()) <= until) return false;
    ++order_;
    pass(until);
    return true;
  }

  /// The same for work on cores.
  [[gnu::always_inline]] bool use_core_at_once(double cpu, double cores) {
    const double until = core_clock_ + cpu;
    if (!on_cores_.empty() && on_cores_.top().until.time() <= until) return false;
    const double wanted_before = wanted_cores_;
    share_cores(wanted_before + cores);
    const double end = due_on_core(until);
    if (!asleep_.empty() && asleep_.top().until.time() < end) {
      share_cores(wanted_before);
      return false;
    }
    ++order_;
    pass(end);
    end_work(until, cores);
    return true;
  }

  /// Lets time pass until a thread runs; nullopt if none ever will.
  [[gnu::always_inline]] std::optional<ThreadIndex> advance() {
    if (on_cores_.empty() && asleep_.empty()) return std::nullopt;
    constexpr double kNever = std::numeric_limits<double>::infinity();  // later than any time
    const double work_due = on_cores_.empty() ? kNever : due(on_cores_.top());
    const double sleep_due = asleep_.empty() ? kNever : asleep_.top().until.time();
    pass(std::min(work_due, sleep_due));
    if (work_due <= sleep_due) {
      const OnCore done = on_cores_.top();
      on_cores_.pop();
      end_work(done.until.time(), done.cores);
      return done.thread;
    }
    const ThreadIndex thread = asleep_.top().thread;
    asleep_.pop();
    return thread;
  }

  std::int64_t pool_threads_in_use = 0;

 private:
  /// The time at which something is due, with the order of planning for equal times, in one number that is cheap to
  /// compare. Times are not negative.
  class Due {
   public:
    Due() = default;
    Due(double time, std::uint64_t order) : time_and_order_(Number{std::bit_cast<std::uint64_t>(time)} << 64 | order) {}
    double time() const { return std::bit_cast<double>(static_cast<std::uint64_t>(time_and_order_ >> 64)); }
    friend bool operator>(const Due& a, const Due& b) { return a.time_and_order_ > b.time_and_order_; }

   private:
    __extension__ using Number = unsigned __int128;
    Number time_and_order_ = 0;
  };
  struct OnCore {
    Due until;  ///< on the clock of the cores
    double cores = 1;
    ThreadIndex thread = 0;
    bool operator>(const OnCore& other) const { return until > other.until; }
  };
  struct Asleep {
    Due until;
    ThreadIndex thread = 0;
    bool operator>(const Asleep& other) const { return until > other.until; }
  };

  /// Sets how many cores are wanted from now on.
  [[gnu::always_inline]] void share_cores(double wanted) {
    wanted_cores_ = wanted;
    const bool are_enough = wanted <= cores_;
    used_cores_ = are_enough ? wanted : cores_;
    speed_ = are_enough ? 1 : cores_ / wanted;
  }
  [[gnu::always_inline]] double due_on_core(double until) const {
    const double rest = std::max(0.0, until - core_clock_);
    return now_ + (speed_ == 1 ? rest : rest / speed_);  // a division takes as long as everything else here
  }
  [[gnu::always_inline]] double due(const OnCore& work) const { return due_on_core(work.until.time()); }

  [[gnu::always_inline]] void pass(double until) {
    const double passed = until - now_;
    core_time_ += used_cores_ * passed;
    pool_time_ += static_cast<double>(pool_threads_in_use) * passed;
    core_clock_ += passed * speed_;
    now_ = until;
  }

  /// Ends work that is no longer in a queue.
  [[gnu::always_inline]] void end_work(double until, double cores) {
    core_clock_ = std::max(core_clock_, until);
    share_cores(on_cores_.empty() ? 0 : wanted_cores_ - cores);
  }

  const double cores_;
  double now_ = 0;
  double core_clock_ = 0;  ///< runs slower than `now_` while more cores are wanted than there are
  double wanted_cores_ = 0;
  double used_cores_ = 0;  ///< cores in use: at most as many as there are
  double speed_ = 1;       ///< work done in a us, in us
  double core_time_ = 0;
  double pool_time_ = 0;
  std::uint64_t order_ = 0;
  Earliest<OnCore> on_cores_;
  Earliest<Asleep> asleep_;
};

using BufferIndex = std::uint32_t;

inline constexpr double kNotWaiting = -1;  // no time is negative

/// A thread of a replay.
struct ReplayThread {
  enum class Role : std::uint8_t { consumer, feeder, dispatcher, job };
  enum class Phase : std::uint8_t { begin, working, waiting, taking, done };
  Role role = Role::consumer;
  Phase phase = Phase::begin;
  bool has_element = false;    ///< for a maker: it works on the element `slot`
  bool is_beside = false;      ///< for a maker: it ends after that element
  bool wakes_maker = false;    ///< it took an element, and another thread waited for room
  std::uint32_t consumer = 0;  ///< index into Programs::consumers
  BufferIndex buffer = 0;      ///< the buffer that it fills
  std::size_t slot = 0;
  std::uint32_t next_action = 0;
  std::uint32_t end_action = 0;
  std::size_t step = 0;              ///< current step of a consumer
  double waits_since = kNotWaiting;  ///< for an element, or for room
  Job job;
};

/// The threads of one replay, running against each other.
class Simulation {
 public:
  Simulation(const Programs& programs, const ReplayLimits& limits);

  Replay run();

 private:
  // Indices are the simulation's own, and these are the most frequent lines: they are not checked.
  ReplayThread& at(ThreadIndex thread) { return threads_.data()[thread]; }
  ReplayBuffer& buffer_at(BufferIndex buffer) { return buffers_.data()[buffer]; }

  bool work(ThreadIndex thread, double cpu, double cores);
  bool sleep(ThreadIndex thread, double time);
  [[gnu::always_inline]] void wake(std::vector<ThreadIndex>& waiting) {
    if (!waiting.empty()) wake_all(waiting);
  }
  void wake_all(std::vector<ThreadIndex>& waiting);
  /// A pool thread that becomes free runs the job that was queued first, at once.
  void release_pool_thread() {
    --clock_.pool_threads_in_use;
    if (wait_for_pool_.empty()) return;
    ready_.push_back(wait_for_pool_.front());
    wait_for_pool_.pop_front();
  }
  std::optional<ThreadIndex> take_ready();
  /// True if the current thread is the only one to run now, and the replay goes on after it.
  bool is_alone() const { return next_ready_ == ready_.size() && events_ < most_events_; }
  bool has_free_pool_thread() const { return clock_.pool_threads_in_use < programs_.pool_threads; }
  void run_thread(ThreadIndex index);
  bool play(ThreadIndex index);
  bool take(ThreadIndex index, BufferIndex buffer);
  void run_consumer(ThreadIndex index);
  void run_maker(ThreadIndex index);
  void run_job(ThreadIndex index);
  void start(ReplayBuffer& buffer, BufferIndex index);
  void start_job(BufferIndex buffer, std::size_t slot);
  bool make_beside(ThreadIndex index);
  ReplayThread& add_thread(ReplayThread::Role role);
  void find_iterations();
  void begin_iteration(IteratorId pipeline, bool is_first);
  void repeat(const ReplayBuffer& buffer);
  std::size_t most_events() const;
  std::size_t first_step() const;
  double rate() const;
  void add_waiting(ReplayThread& thread, double& sum) const;
  double& starved(BufferIndex who, BufferIndex buffer);
  Bottleneck find_bottleneck() const;
  std::pair<BufferIndex, double> longest_starved(BufferIndex who) const;
  double own_time_in_get_next(double waited) const;
  Bottleneck bottleneck_of(StageIndex stage, const ReplayBuffer& buffer) const;

  const Programs& programs_;
  const ReplayLimits limits_;
  ReplayClock clock_;
  std::size_t wanted_steps_ = 0;
  std::size_t steps_of_sample_ = 0;  ///< number of steps that go through the sample twice, at most the usual number
  std::vector<ReplayBuffer> buffers_;
  std::map<StageIndex, BufferIndex> buffer_of_;
  std::vector<BufferIndex> buffer_of_action_;  ///< indexed as the actions
  std::vector<ReplayThread> threads_;
  std::vector<ThreadIndex> free_threads_;
  std::vector<ThreadIndex> ready_;  ///< valid from `next_ready_` on
  std::size_t next_ready_ = 0;
  std::deque<ThreadIndex> wait_for_pool_;
  bool is_pool_used_up_ = false;
  bool python_is_held_ = false;
  std::vector<ThreadIndex> wait_for_python_;
  std::size_t events_ = 0;       ///< how often a thread ran
  std::vector<double> marks_;    ///< when the first consumer began its steps
  std::size_t most_events_ = 0;  ///< the limit of `events_` for the present number of marks
  bool is_done_ = false;
  std::set<IteratorId> iterating_;  ///< pipelines that the consumer makes anew in the sample
  /// Time spent waiting for an element, by the waiter and by the buffer waited for. A maker is identified by the buffer
  /// that it fills, the first consumer by kOfConsumer.
  std::vector<std::pair<std::pair<BufferIndex, BufferIndex>, double>> starved_;
};

inline constexpr BufferIndex kOfConsumer = std::numeric_limits<BufferIndex>::max();
inline constexpr BufferIndex kOfOtherConsumer = kOfConsumer - 1;

}  // namespace doctor
