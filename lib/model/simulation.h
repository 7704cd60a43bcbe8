#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/replay.h"
#include "model/replay_buffer.h"
#include "model/replay_clock.h"

namespace doctor {

using BufferIndex = std::uint32_t;

inline constexpr double kNotWaiting = -1;

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
