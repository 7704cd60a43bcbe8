#include <algorithm>
#include <utility>

#include "profile/memory_profile.h"

namespace doctor {
namespace {

std::int64_t rounded_down(Picoseconds time, Picoseconds width) {
  return time / width - (time % width < 0 ? 1 : 0);
}

void merge_into(MemorySpan& span, const MemorySpan& other) {
  // Of changes at the same time the one that leaves more in use counts, whichever came first.
  if (std::pair(other.end, other.last_bytes) > std::pair(span.end, span.last_bytes)) {
    span.end = other.end;
    span.last_bytes = other.last_bytes;
  }
  span.start = std::min(span.start, other.start);
  span.most_bytes = std::max(span.most_bytes, other.most_bytes);
}

}  // namespace

void MemoryTimeline::add(Picoseconds time, std::uint64_t bytes) {
  const MemorySpan change = {time, time, bytes, bytes};
  const auto [span, is_new] = spans_.try_emplace(rounded_down(time, width_), change);
  if (!is_new) merge_into(span->second, change);
  while (spans_.size() > kMostSpans) halve();
}

void MemoryTimeline::halve() {
  std::map<std::int64_t, MemorySpan> wider;
  width_ *= 2;
  for (const auto& [index, narrow] : spans_) {
    const auto [span, is_new] = wider.try_emplace(rounded_down(index, 2), narrow);
    if (!is_new) merge_into(span->second, narrow);
  }
  spans_ = std::move(wider);
}

std::vector<MemorySpan> MemoryTimeline::spans() const {
  std::vector<MemorySpan> spans;
  spans.reserve(spans_.size());
  for (const auto& [index, span] : spans_) spans.push_back(span);
  return spans;
}

}  // namespace doctor
