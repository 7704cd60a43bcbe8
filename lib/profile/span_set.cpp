#include "profile/span_set.h"

#include <algorithm>
#include <utility>

#include "base/intervals.h"

namespace doctor {
namespace {

constexpr Picoseconds kFirstClosedGap = kPicosecondsPerMicrosecond;

/// Closes the gaps up to a length between disjoint sorted intervals.
void close_gaps(std::vector<Interval>& spans, Picoseconds longest) {
  std::size_t kept = 0;
  for (const Interval span : spans) {
    if (kept > 0 && span.start - spans[kept - 1].end <= longest) {
      spans[kept - 1].end = span.end;
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
}

}  // namespace

void SpanSet::add(Interval span) {
  if (span.start >= span.end) return;
  // Events of a stream follow each other, so most that touch are neighbours.
  if (!spans_.empty() && span.start >= spans_.back().start && span.start <= spans_.back().end) {
    spans_.back().end = std::max(spans_.back().end, span.end);
    return;
  }
  spans_.push_back(span);
  if (spans_.size() >= next_shrink_) shrink();
}

void SpanSet::shrink() {
  spans_ = merged(std::move(spans_));
  close_gaps(spans_, closed_gap_);
  while (spans_.size() > capacity_) {
    closed_gap_ = std::max(kFirstClosedGap, 2 * closed_gap_);
    close_gaps(spans_, closed_gap_);
  }
  next_shrink_ = std::max(next_shrink_, 2 * spans_.size());
}

std::vector<Interval> SpanSet::take() {
  shrink();
  return std::exchange(spans_, {});
}

}  // namespace doctor
