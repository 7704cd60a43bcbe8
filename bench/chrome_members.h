#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "aggregate.h"

namespace bench {

/// Puts the callbacks of a SAX parser over a Chrome trace together to events and adds these to an aggregate: what the
/// readers with RapidJSON and nlohmann have in common.
class ChromeMembers {
 public:
  explicit ChromeMembers(Aggregate& aggregate) : aggregate_(aggregate) {}

  void begin() { ++depth_; }
  void end();
  void key(std::string_view key);
  void text(std::string_view value);
  void integer(std::uint64_t value);
  void real(double value);

 private:
  // {"traceEvents": [{event}]}
  static constexpr int kEventDepth = 3;

  enum class Member { other, phase, process, thread, start, duration, name };

  static Member member_of(std::string_view key);
  void take_event();

  Aggregate& aggregate_;
  int depth_ = 0;
  bool in_events_ = false;

  // The event so far.
  Member member_ = Member::other;
  bool is_complete_ = false;  ///< phase X
  std::uint64_t process_ = 0;
  std::uint64_t thread_ = 0;
  double start_ = 0;     ///< in microseconds
  double duration_ = 0;  ///< in microseconds
  std::string name_;
};

inline ChromeMembers::Member ChromeMembers::member_of(std::string_view key) {
  if (key == "ph") return Member::phase;
  if (key == "pid") return Member::process;
  if (key == "tid") return Member::thread;
  if (key == "ts") return Member::start;
  if (key == "dur") return Member::duration;
  if (key == "name") return Member::name;
  return Member::other;
}

inline void ChromeMembers::key(std::string_view key) {
  if (depth_ == kEventDepth) member_ = member_of(key);
  if (depth_ == 1) in_events_ = key == "traceEvents";
}

inline void ChromeMembers::text(std::string_view value) {
  if (depth_ != kEventDepth) return;
  if (member_ == Member::name) name_ = value;
  if (member_ == Member::phase) is_complete_ = value == "X";
}

inline void ChromeMembers::integer(std::uint64_t value) {
  if (depth_ != kEventDepth) return;
  if (member_ == Member::process) process_ = value;
  if (member_ == Member::thread) thread_ = value;
  real(static_cast<double>(value));
}

inline void ChromeMembers::real(double value) {
  if (depth_ != kEventDepth) return;
  if (member_ == Member::start) start_ = value;
  if (member_ == Member::duration) duration_ = value;
}

inline void ChromeMembers::end() {
  if (depth_ == kEventDepth && in_events_ && is_complete_) take_event();
  if (depth_ == kEventDepth) is_complete_ = false;
  --depth_;
}

inline void ChromeMembers::take_event() {
  aggregate_.add(aggregate_.thread(process_, thread_), aggregate_.intern(name_), to_picoseconds(start_),
                 to_picoseconds(duration_));
}

}  // namespace bench
