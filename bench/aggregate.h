#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"

namespace bench {

using doctor::Picoseconds;

/// An event name's place in the table of totals.
enum class NameId : std::uint32_t {};

/// The totals of all events of one name. Self time is duration without the parts that nested events cover.
struct NameTotals {
  std::uint64_t count = 0;
  Picoseconds sum = 0;
  Picoseconds shortest = std::numeric_limits<Picoseconds>::max();
  Picoseconds longest = std::numeric_limits<Picoseconds>::min();
  Picoseconds self = 0;
};

/// An event that a later one of its thread may be nested in.
struct OpenEvent {
  NameId name{};
  Picoseconds end = 0;
};

struct Thread {
  std::vector<OpenEvent> open;
  Picoseconds last_start = std::numeric_limits<Picoseconds>::min();
  Picoseconds self = 0;
};

/// The work of the rows "load + aggregate": count, sum, shortest and longest duration of each event name, and self time
/// of each name and thread. One class for all programs, so that they differ in nothing but their readers.
class Aggregate {
 public:
  Aggregate() = default;
  Aggregate(const Aggregate&) = delete;  // the table refers to its own names
  Aggregate& operator=(const Aggregate&) = delete;

  NameId intern(std::string_view name);

  /// The reference stays valid. Quick if the thread is that of the last call: neighbours in a file mostly are.
  Thread& thread(std::uint64_t process, std::uint64_t thread);

  /// Events of one thread come in order of start, an outer event before those that are nested in it.
  void add(Thread& thread, NameId name, Picoseconds start, Picoseconds duration);

  /// A stat of an XSpace event: `value` is the number, the bits of a double, or the length of a string.
  void add_stat(std::uint64_t id, std::uint64_t value) { stats_ += id ^ (value * 0x9e37'79b9'7f4a'7c15u); }

  /// One line of JSON by which the results of two programs are compared.
  std::string summary() const;

 private:
  using ThreadKey = std::pair<std::uint64_t, std::uint64_t>;

  std::unordered_map<std::string_view, NameId> ids_;
  std::deque<std::string> names_;
  std::vector<NameTotals> totals_;
  std::map<ThreadKey, Thread> threads_;
  std::pair<const ThreadKey, Thread>* last_thread_ = nullptr;
  std::uint64_t events_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t stats_ = 0;
};

inline Thread& Aggregate::thread(std::uint64_t process, std::uint64_t thread) {
  const ThreadKey key{process, thread};
  if (last_thread_ == nullptr || last_thread_->first != key) last_thread_ = &*threads_.try_emplace(key).first;
  return last_thread_->second;
}

inline void Aggregate::add(Thread& thread, NameId name, Picoseconds start, Picoseconds duration) {
  ++events_;
  out_of_order_ += start < thread.last_start ? 1 : 0;
  thread.last_start = start;

  NameTotals& totals = totals_[static_cast<std::size_t>(name)];
  ++totals.count;
  totals.sum += duration;
  totals.shortest = std::min(totals.shortest, duration);
  totals.longest = std::max(totals.longest, duration);

  std::vector<OpenEvent>& open = thread.open;
  while (!open.empty() && open.back().end <= start) open.pop_back();
  const Picoseconds end = start + duration;
  totals.self += duration;
  thread.self += duration;
  if (!open.empty()) {
    const Picoseconds covered = std::min(end, open.back().end) - start;
    totals_[static_cast<std::size_t>(open.back().name)].self -= covered;
    thread.self -= covered;
  }
  open.push_back({name, end});
}

/// Decimal microseconds, as a JSON reader returns them, in picoseconds. Exact below 2^53 ps, that is 2.5 hours.
inline Picoseconds to_picoseconds(double microseconds) {
  // llround() would be a call for each time and slow the baselines; no time is negative.
  return static_cast<Picoseconds>(microseconds * 1e6 + 0.5);  // NOLINT(bugprone-incorrect-roundings)
}

}  // namespace bench
