#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace doctor {

/// A row of items that several threads work on and one caller gets in order. Reading a file is such a row: its windows
/// must be taken in order and used in order, but each can be parsed independently.
///
/// `Take` fills an item and returns false when there are no more; it is called by one thread at a time, in order.
/// `Work` works on one item, and runs on several items at once. Items are reused with their buffers, so their number
/// and their memory are bounded.
///
/// The thread that calls next() works too while its item is not ready. With one thread none is started, and next()
/// takes and works in turn. If `Take` or `Work` throws, next() throws the exception in place of that item, and the row
/// ends.
template <typename Item, typename Take, typename Work>
class OrderedWork {
 public:
  OrderedWork(unsigned threads, Take take, Work work)
      : take_(std::move(take)), work_(std::move(work)), slots_(threads > 1 ? threads * std::size_t{2} : 1) {
    try {
      for (unsigned thread = 1; thread < threads; ++thread) workers_.emplace_back([this] { run_worker(); });
    } catch (const std::system_error&) {
      // A thread that the system refuses is not missed: the caller works too.
    }
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;
  ~OrderedWork() { stop(); }

  /// The next item, valid until the next call; null at the end.
  Item* next() {
    std::unique_lock lock(mutex_);
    if (has_used_) {
      ++used_;
      has_used_ = false;
      changed_.notify_all();
    }
    while (true) {
      if (used_ < taken_ && slot(used_).is_done) return use_first();
      if (used_ == taken_ && is_finished_ && !is_taking_) return nullptr;
      if (can_take()) {
        take_and_work(lock);
      } else {
        wait_for_change(lock);
      }
    }
  }

  /// Ends the work: no further item is taken, and no thread is at work afterwards. Calls `visit` in order with each
  /// item that was taken and not handed on, whether it was worked on or not.
  template <typename Visit>
  void abandon(Visit visit) {
    stop();
    if (has_used_) ++used_;
    has_used_ = false;
    for (; used_ < taken_; ++used_) visit(slot(used_).item);
  }

 private:
  struct Slot {
    Item item;
    bool is_done = false;
    std::exception_ptr error;
  };

  /// std::condition_variable::wait() is avoided: GCC 12 made it a symbol that older systems lack (scripts/wheel).
  /// Callers check their condition after every wakeup, so the limit of an hour does not matter.
  void wait_for_change(std::unique_lock<std::mutex>& lock) { changed_.wait_for(lock, std::chrono::hours(1)); }

  Slot& slot(std::size_t index) { return slots_[index % slots_.size()]; }
  bool can_take() const { return !is_finished_ && !is_taking_ && taken_ - used_ < slots_.size(); }

  Item* use_first() {
    Slot& first = slot(used_);
    has_used_ = true;
    if (first.error) {
      is_finished_ = true;
      std::rethrow_exception(first.error);
    }
    return &first.item;
  }

  void take_and_work(std::unique_lock<std::mutex>& lock) {
    Slot& mine = slot(taken_);
    mine.is_done = false;
    mine.error = nullptr;
    is_taking_ = true;
    lock.unlock();
    bool is_taken = false;
    std::exception_ptr error;
    try {
      is_taken = take_(mine.item);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    is_taking_ = false;
    if (is_taken || error) ++taken_;
    if (!is_taken) is_finished_ = true;
    changed_.notify_all();
    if (is_taken) {
      lock.unlock();
      try {
        work_(mine.item);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
    }
    mine.error = error;
    mine.is_done = true;
    changed_.notify_all();
  }

  void run_worker() {
    std::unique_lock lock(mutex_);
    while (!is_finished_) {
      if (can_take()) {
        take_and_work(lock);
      } else {
        wait_for_change(lock);
      }
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_finished_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  Take take_;
  Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;  ///< a ring: item n is in slot n modulo their number
  std::size_t taken_ = 0;    ///< items taken so far
  std::size_t used_ = 0;     ///< items handed on and returned
  bool has_used_ = false;    ///< item `used_` is in the caller's hands
  bool is_taking_ = false;
  bool is_finished_ = false;  ///< no more items will be taken
  std::vector<std::thread> workers_;
};

}  // namespace doctor
