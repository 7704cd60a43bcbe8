#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/programs.h"

namespace doctor {

/// Index of a thread of a replay.
using ThreadIndex = std::uint32_t;

/// Elements in the order in which they were begun.
struct ReplayBuffer {
  enum class Slot : std::uint8_t { begun, ready, taken };

  const Producer* producer = nullptr;
  std::vector<Slot> slots;  ///< valid from `begin` on
  std::size_t begin = 0;
  std::size_t first_slot = 0;  ///< number of the slot at `begin`
  std::int64_t held = 0;       ///< slots that are not taken
  std::int64_t in_work = 0;    ///< for a dispatcher: unfinished jobs; for a feeder: elements that are made beside
  double made_beside = 0;      ///< elements that are due to be made beside: see Producer::share_made_beside
  std::size_t next_program = 0;
  std::size_t next_job = 0;
  std::size_t end_program = 0;  ///< last program of the iteration: the next iteration has to begin first
  std::uint32_t iteration = 0;
  bool has_iterations = false;  ///< its pipeline is made anew in the sample
  /// It is TF's prefetch above a repeat(), whose thread makes the other iterators of the pipeline anew for each
  /// iteration. Its own elements continue.
  bool repeats = false;
  bool is_started = false;
  bool was_full = false;
  bool is_full_since_growth = false;  ///< it was full since its limit was last doubled
  std::vector<ThreadIndex> takers;    ///< threads that wait for an element
  std::vector<ThreadIndex> makers;    ///< threads that wait for room
  double full_time = 0;               ///< total time for which its makers waited for room

  std::int64_t limit = 0;         ///< limit of `held`
  std::size_t leading_ready = 0;  ///< number of consecutive ready slots from `begin` on

  std::size_t begin_element() {
    slots.push_back(Slot::begun);
    ++held;
    return first_slot + (slots.size() - begin) - 1;
  }
  void finish_element(std::size_t slot) {
    // An element of an unordered producer goes into the batch that is taken next.
    if (producer->is_unordered && producer->batch > 1) slot = first_slot + count_leading();
    if (slot >= first_slot && slot - first_slot < slots.size() - begin) slots[begin + slot - first_slot] = Slot::ready;
  }
  /// Takes a whole batch of a fused map and batch, which cannot be taken in part.
  bool take_batch() {
    const auto batch = static_cast<std::size_t>(producer->batch);
    if (count_leading() < batch) return false;
    leading_ready -= batch;
    held -= producer->batch;
    drop(batch);
    return true;
  }
  [[gnu::always_inline]] bool take() {
    if (producer->is_unordered) return take_any();
    if (begin == slots.size() || slots.data()[begin] != Slot::ready) return false;
    --held;
    drop(1);
    return true;
  }
  /// Called when somebody finds it empty.
  void grow() {
    if (!is_full_since_growth || !producer->doubles_limit()) return;
    limit = std::min(2 * limit, producer->largest_limit);
    is_full_since_growth = false;
  }
  /// Drops the elements of the previous iteration; nobody will take what is in work.
  void begin_iteration() {
    held = 0;
    leading_ready = 0;
    is_full_since_growth = false;
    if (producer->doubles_limit()) limit = producer->limit;
    drop(slots.size() - begin);
    const std::vector<std::uint32_t>& iterations = producer->iterations;
    const auto [first, end] = std::equal_range(iterations.begin(), iterations.end(), iteration);
    if (first == end) return;
    next_program = static_cast<std::size_t>(first - iterations.begin());
    end_program = static_cast<std::size_t>(end - iterations.begin());
    next_job = producer->jobs.size() * next_program / producer->programs.size();
  }
  /// True if all elements of the iteration are made, and nobody waits for more.
  bool is_at_end() const { return next_program >= end_program && takers.empty(); }
  /// True if the program that was taken last is the first of an iteration.
  bool begins_iteration() const {
    const std::vector<std::uint32_t>& iterations = producer->iterations;
    return next_program <= 1 || iterations[next_program - 1] != iterations[next_program - 2];
  }
  const Program& take_program() {
    // The window may cut off a part of the elements that an iteration needs: then its programs begin again.
    if (next_program >= end_program && repeats) {
      next_program = 0;
    } else if (next_program >= end_program) {
      const std::uint32_t last = producer->iterations[std::max<std::size_t>(end_program, 1) - 1];
      const auto first = std::lower_bound(producer->iterations.begin(), producer->iterations.end(), last);
      next_program = static_cast<std::size_t>(first - producer->iterations.begin());
    }
    return producer->programs[next_program++];
  }

 private:
  std::size_t count_leading() {
    while (begin + leading_ready < slots.size() && slots[begin + leading_ready] == Slot::ready) ++leading_ready;
    return leading_ready;
  }
  /// Takes the first element that is ready.
  bool take_any() {
    const auto found = std::find(slots.begin() + static_cast<std::ptrdiff_t>(begin), slots.end(), Slot::ready);
    if (found == slots.end()) return false;
    *found = Slot::taken;
    --held;
    std::size_t taken = 0;
    while (begin + taken < slots.size() && slots[begin + taken] == Slot::taken) ++taken;
    drop(taken);
    return true;
  }
  [[gnu::always_inline]] void drop(std::size_t count) {
    begin += count;
    first_slot += count;
    if (2 * begin < slots.size()) return;
    if (begin == slots.size()) {
      slots.clear();
      begin = 0;
      return;
    }
    move_slots_up();
  }
  void move_slots_up() {
    slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(begin));
    begin = 0;
  }
};

}  // namespace doctor
