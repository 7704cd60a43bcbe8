#include "measure/functions/function_runs.h"
#include "measure/own_part.h"
#include "measure/timeline/timeline_recording.h"

namespace doctor {
namespace {

/// Gathers pieces of time in order of start. Pauses too short for a picture are closed at once, so that few spans are
/// kept of however many pieces.
class SpanGatherer {
 public:
  explicit SpanGatherer(Interval window) : window_(window), done_(window.start) {}

  void add(Interval piece) {
    piece.start = std::max(piece.start, done_);
    piece.end = std::min(piece.end, window_.end);
    if (piece.start >= piece.end) return;
    done_ = piece.end;
    time_ += piece.end - piece.start;
    append({piece, piece.end - piece.start}, spans_, 2 * kMostLaneSpans);
  }

  Picoseconds time() const { return time_; }

  /// With pauses of at least 1 / kMostLaneSpans of the window between them, no more than that many spans fit into it.
  std::vector<LaneSpan> finish() {
    if (spans_.size() <= kMostLaneSpans) return std::move(spans_);
    std::vector<LaneSpan> fewer;
    for (const LaneSpan& span : spans_) append(span, fewer, kMostLaneSpans);
    return fewer;
  }

 private:
  /// Pauses shorter than 1 / `parts` of the window are closed.
  void append(const LaneSpan& piece, std::vector<LaneSpan>& spans, std::size_t parts) const {
    const auto is_short = [&](Picoseconds pause) {
      return static_cast<double>(pause) * static_cast<double>(parts) < static_cast<double>(window_.end - window_.start);
    };
    if (!spans.empty() && is_short(piece.span.start - spans.back().span.end)) {
      spans.back().span.end = piece.span.end;
      spans.back().work += piece.work;
    } else {
      spans.push_back(piece);
    }
  }

  Interval window_;
  Picoseconds done_;
  Picoseconds time_ = 0;
  std::vector<LaneSpan> spans_;
};

/// Gathers for all windows what one thread after another did.
class LaneCollector {
 public:
  LaneCollector(const Trace& trace, const IteratorForest& forest, const FunctionOwners& owners,
                const std::vector<bool>& waits, std::span<const LaneRequest> requests)
      : trace_(trace),
        forest_(forest),
        owners_(owners),
        waits_(waits),
        requests_(requests),
        hull_(requests.front().span),
        gathered_(requests.size()) {
    for (const LaneRequest& request : requests) {
      hull_ = {std::min(hull_.start, request.span.start), std::max(hull_.end, request.span.end)};
    }
  }

  void add(std::size_t lane) {
    add_calls(trace_.lanes[lane]);
    add_ops(lane);
    for (std::size_t index = 0; index < requests_.size(); ++index) {
      TimelineWindow& window = *requests_[index].window;
      for (auto& [key, spans] : gathered_[index]) {
        if (spans.time() == 0) continue;
        window.lanes.push_back({key.first, key.second, static_cast<LaneId>(lane), spans.time(), spans.finish()});
      }
      gathered_[index].clear();
      if (window.lanes.size() > kMostTimelineLanes) keep_busiest(window);
    }
  }

  void finish() {
    for (const LaneRequest& request : requests_) {
      std::sort(request.window->lanes.begin(), request.window->lanes.end(),
                [this](const TimelineLane& a, const TimelineLane& b) { return stands_before(a, b); });
    }
  }

 private:
  /// By what they show and the names of their threads, whose numbers depend on the order of events in the file.
  bool stands_before(const TimelineLane& a, const TimelineLane& b) const {
    const auto key = [this](const TimelineLane& lane) {
      return std::tuple(lane.iterator, lane.work, lane.spans.front().span.start, -lane.time,
                        trace_.strings[trace_.lanes[lane.lane].name], lane.lane);
    };
    return key(a) < key(b);
  }

  /// Leaves the lanes in which most was done.
  void keep_busiest(TimelineWindow& window) const {
    std::sort(window.lanes.begin(), window.lanes.end(), [this](const TimelineLane& a, const TimelineLane& b) {
      return a.time != b.time ? a.time > b.time : stands_before(a, b);
    });
    window.lanes_left_out += window.lanes.size() - kMostTimelineLanes;
    window.lanes.resize(kMostTimelineLanes);
  }

  /// The first outermost call that ends after the windows begin.
  std::uint32_t first_row(const IteratorCalls& calls) const {
    std::uint32_t row = 0;
    while (row < calls.size() && calls[row].span.end() <= hull_.start) row = calls.subtree_end(row);
    return row;
  }

  void add_calls(const Lane& lane) {
    const auto works = [&](const IteratorCall& call) { return !waits_[index_of(forest_.iterator_of(call))]; };
    std::size_t next_run = 0;
    visit_own_times(
        lane.iterator_calls, hull_.end, works,
        [&](std::uint32_t row, Interval own) {
          if (own.end <= hull_.start) return;
          const IteratorId iterator = forest_.iterator_of(lane.iterator_calls[row]);
          visit_own_work(lane, row, own, next_run, [&](Interval piece, bool is_function) {
            add(iterator, is_function ? LaneWork::function : LaneWork::self, piece);
          });
        },
        first_row(lane.iterator_calls));
  }

  void add_ops(std::size_t lane) {
    const ChunkedVector<OpCall>& ops = trace_.lanes[lane].ops;
    for (std::size_t op = owners_.first_op_reaching(lane, ops, hull_.start); op < ops.size(); ++op) {
      const PackedSpan span = ops[op].span;
      if (span.start() >= hull_.end) break;
      const IteratorId owner = owners_.of_op(lane, op);
      if (owner == kNoIterator || !waits_[index_of(owner)]) continue;
      add(owner, LaneWork::function, {span.start(), span.end()});
    }
  }

  void add(IteratorId iterator, LaneWork work, Interval piece) {
    for (std::size_t index = 0; index < requests_.size(); ++index) {
      const LaneRequest& request = requests_[index];
      if (piece.end <= request.span.start || piece.start >= request.span.end) continue;
      if (!request.members[index_of(iterator)]) continue;
      gathered_[index].try_emplace({iterator, work}, request.span).first->second.add(piece);
    }
  }

  const Trace& trace_;
  const IteratorForest& forest_;
  const FunctionOwners& owners_;
  const std::vector<bool>& waits_;
  std::span<const LaneRequest> requests_;
  Interval hull_;  ///< around all windows
  /// Indexed as the requests: what the present thread did.
  std::vector<std::map<std::pair<IteratorId, LaneWork>, SpanGatherer>> gathered_;
};

}  // namespace

void collect_lanes(const Trace& trace, const IteratorForest& forest, const FunctionOwners& owners,
                   const std::vector<bool>& waits, std::span<const LaneRequest> requests) {
  if (requests.empty()) return;
  LaneCollector collector(trace, forest, owners, waits, requests);
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) collector.add(lane);
  collector.finish();
}

}  // namespace doctor
