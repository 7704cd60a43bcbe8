#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "model/earliest.h"
#include "model/replay_buffer.h"

namespace doctor {

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
    constexpr double kNever = std::numeric_limits<double>::infinity();
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

}  // namespace doctor
