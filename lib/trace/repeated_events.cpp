#include "trace/repeated_events.h"

#include "base/hash.h"

namespace doctor {

std::uint64_t event_token(std::string_view name, std::string_view other_name, Picoseconds start, Picoseconds duration) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t token = fnv1a_64(name);
  for (const std::uint64_t part :
       {fnv1a_64(other_name), static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(duration)}) {
    token = (token ^ part) * kOdd;
    token ^= token >> 29;
  }
  return token;
}

bool RepeatedEvents::is_repeat(std::uint64_t token) {
  const auto [first, last] = std::equal_range(before_.begin(), before_.end(), token);
  const auto count = static_cast<std::size_t>(last - first);
  if (count == 0 || ++repeated_[token] > count) {
    fresh_.push_back(token);
    return false;
  }
  ++repeat_count_;
  return true;
}

std::uint64_t RepeatedEvents::end_file() {
  std::sort(fresh_.begin(), fresh_.end());
  const auto middle = static_cast<std::ptrdiff_t>(before_.size());
  before_.insert(before_.end(), fresh_.begin(), fresh_.end());
  std::inplace_merge(before_.begin(), before_.begin() + middle, before_.end());
  fresh_.clear();
  repeated_.clear();
  const std::uint64_t count = repeat_count_;
  repeat_count_ = 0;
  return count;
}

void EventsOnce::begin(const EventHeader& header) {
  origin_ns_ = header.origin_ns;
  next_.begin(header);
}

void EventsOnce::take(const TraceEvent& event) {
  if (event.is_repeat) return;
  if (files_ != nullptr) {
    // On the clock of all files, whatever the origin of each: it may wrap around, in all of them alike.
    const std::uint64_t start =
        static_cast<std::uint64_t>(origin_ns_) * kPicosecondsPerNanosecond + static_cast<std::uint64_t>(event.start);
    if (files_->is_repeat(event_token(event.name, event.short_name, static_cast<Picoseconds>(start), event.duration))) {
      return;
    }
  }
  next_.take(event);
}

}  // namespace doctor
