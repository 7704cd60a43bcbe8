#include <numeric>
#include <tuple>

#include "trace/event_kind.h"
#include "trace/timeline/timeline_events.h"

namespace doctor {
namespace {

/// StepStats hold times truncated to microseconds, so a start and an end may each be 1 us early: an inner call can
/// stick out by that much at either side. (tensorflow/core/framework/step_stats.proto, *_rel_micros)
constexpr Picoseconds kSlack = 2 * kPicosecondsPerMicrosecond;

/// Orders calls that start in the same microsecond by depth, and is too little to change any other order.
constexpr Picoseconds kTieBreakPerLevel = 10;

constexpr std::string_view kSeparator = "::";

std::int64_t depth_of(std::string_view long_name) {
  std::int64_t depth = 0;
  for (std::size_t at = long_name.find(kSeparator); at != std::string_view::npos;
       at = long_name.find(kSeparator, at + kSeparator.size())) {
    ++depth;
  }
  return depth;
}

/// Spans whose end exceeds every earlier end: only these can be the first to reach a given time.
class Reaching {
 public:
  void add(const TimelineSpan& span, std::uint32_t index, std::size_t position) {
    if (spans_.empty() || span.end() > spans_.back().end) {
      spans_.push_back({span.end(), span.duration, index, position});
    }
  }

  struct Entry {
    Picoseconds end;
    Picoseconds duration;
    std::uint32_t index;
    std::size_t position;
  };

  /// The first span that contains `inner` but for the slack; null if there is none.
  const Entry* around(const TimelineSpan& inner) const {
    auto found = std::partition_point(spans_.begin(), spans_.end(),
                                      [&](const Entry& span) { return span.end + kSlack < inner.end(); });
    // Only a span that starts within the slack after the inner one can be shorter by more than the slack.
    while (found != spans_.end() && found->duration + kSlack < inner.duration) ++found;
    return found == spans_.end() ? nullptr : &*found;
  }

 private:
  std::vector<Entry> spans_;
};

using ReachingByName = std::unordered_map<std::string_view, Reaching>;

/// The call with the longest prefix of the long name of `call` that contains it.
std::uint32_t parent_of(const TimelineSpan& call, const ReachingByName& seen) {
  for (std::size_t cut = call.long_name.rfind(kSeparator); cut != std::string_view::npos && cut > 0;
       cut = call.long_name.rfind(kSeparator, cut - 1)) {
    const std::string_view prefix = call.long_name.substr(0, cut);
    const Reaching::Entry* best = nullptr;
    for (const std::string_view name : {prefix, without_element_index(prefix)}) {
      const auto found = seen.find(name);
      const Reaching::Entry* const candidate = found == seen.end() ? nullptr : found->second.around(call);
      if (candidate != nullptr && (best == nullptr || candidate->position < best->position)) best = candidate;
    }
    if (best != nullptr) return best->index;
  }
  return kNoSpan;
}

}  // namespace

TimelineNesting nest_timeline(std::span<const TimelineSpan> calls, std::span<const TimelineSpan> get_nexts) {
  struct Place {
    Picoseconds start;
    Picoseconds end;
    std::int64_t depth;  // -1 for a GetNext op, which is around the iterators
    std::uint32_t index;
  };
  std::vector<Place> places;
  places.reserve(calls.size() + get_nexts.size());
  for (std::uint32_t index = 0; index < get_nexts.size(); ++index) {
    places.push_back({get_nexts[index].start - kSlack, get_nexts[index].end(), -1, index});
  }
  for (std::uint32_t index = 0; index < calls.size(); ++index) {
    const std::int64_t depth = depth_of(calls[index].long_name);
    places.push_back({calls[index].start + depth * kTieBreakPerLevel, calls[index].end(), depth, index});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tuple(a.start, -a.end, a.depth) < std::tuple(b.start, -b.end, b.depth);
  });

  TimelineNesting nesting;
  nesting.parent.assign(calls.size(), kNoSpan);
  nesting.get_next.assign(calls.size(), kNoSpan);
  Reaching open_get_nexts;
  ReachingByName open_calls;
  for (std::size_t position = 0; position < places.size(); ++position) {
    const Place& place = places[position];
    if (place.depth < 0) {
      open_get_nexts.add(get_nexts[place.index], place.index, position);
      continue;
    }
    const TimelineSpan& call = calls[place.index];
    nesting.order.push_back(place.index);
    nesting.parent[place.index] = parent_of(call, open_calls);
    if (const auto* around = open_get_nexts.around(call)) nesting.get_next[place.index] = around->index;
    open_calls[call.long_name].add(call, place.index, position);
  }
  return nesting;
}

}  // namespace doctor
