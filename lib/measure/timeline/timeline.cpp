#include "measure/timeline/timeline.h"

#include <tuple>

namespace doctor {
namespace {

using Holder = std::tuple<IteratorId, SegmentKind, LaneId>;

Holder holder_of(const Segment& segment) {
  return {segment.iterator, segment.kind, segment.lane};
}

/// Where the piece of that number begins.
Picoseconds piece_start(Interval call, std::size_t piece) {
  constexpr auto kPieces = static_cast<Picoseconds>(kMostStretches);
  const Picoseconds latency = call.end - call.start;
  const auto number = static_cast<Picoseconds>(piece);
  return call.start + latency / kPieces * number + latency % kPieces * number / kPieces;
}

/// The segment of whoever holds most of the piece; of equals the first. `next` is the first segment that reaches into
/// the piece and, afterwards, into the one after it.
const Segment& main_segment(Interval piece, const std::vector<Segment>& segments, std::size_t& next) {
  struct Part {
    std::size_t first = 0;
    Picoseconds time = 0;
  };
  std::map<Holder, Part> parts;
  for (; next < segments.size(); ++next) {
    const Interval span = segments[next].span;
    Part& part = parts.try_emplace(holder_of(segments[next]), Part{next, 0}).first->second;
    part.time += std::min(span.end, piece.end) - std::max(span.start, piece.start);
    if (span.end > piece.end) break;
    if (span.end == piece.end) {
      ++next;
      break;
    }
  }
  Part most;
  for (const auto& [holder, part] : parts) {
    if (part.time > most.time || (part.time == most.time && part.first < most.first)) most = part;
  }
  return segments[most.first];
}

}  // namespace

std::vector<Segment> stretches_of(Interval call, const std::vector<Segment>& segments) {
  if (segments.size() <= kMostStretches) return segments;
  std::vector<Segment> stretches;
  std::size_t next = 0;
  for (std::size_t piece = 0; piece < kMostStretches; ++piece) {
    const Interval span{piece_start(call, piece), piece_start(call, piece + 1)};
    Segment stretch = main_segment(span, segments, next);
    stretch.span = span;
    if (!stretches.empty() && holder_of(stretches.back()) == holder_of(stretch)) {
      stretches.back().span.end = span.end;
    } else {
      stretches.push_back(stretch);
    }
  }
  return stretches;
}

}  // namespace doctor
