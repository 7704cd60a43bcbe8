#include <tuple>

#include "base/search.h"
#include "measure/functions/function_runs.h"
#include "measure/waits/critical_path.h"
#include "trace/trace_builder.h"

namespace doctor {
namespace {

/// Deeper nesting than any real pipeline: what is below is given to the iterator at this depth.
constexpr int kDeepestWalk = 200;

bool is_earlier_call(CallRef a, CallRef b) {
  return std::make_tuple(a.lane, a.row) < std::make_tuple(b.lane, b.row);
}

}  // namespace

bool CriticalPath::Walker::Candidate::ranks_before(const Candidate& other) const {
  const auto rank = [](const Candidate& candidate) {
    return std::make_tuple(!candidate.made_the_element, candidate.distance, candidate.span.start, candidate.call.lane,
                           candidate.call.row);
  };
  return rank(*this) < rank(other);
}

CriticalPath::Walker::Walker(const CriticalPath& path)
    : path_(path),
      trace_(path.trace_),
      forest_(path.forest_),
      next_run_(trace_.lanes.size(), 0),
      next_consumed_(trace_.lanes.size(), 0),
      next_top_call_(forest_.iterators.size(), 0) {}

std::span<const Segment> CriticalPath::Walker::attribute(const RootCall& call) {
  segments_.clear();
  root_call(call, call.span, 0);
  return segments_;
}

static_assert(kMostLanes <= std::size_t{1} << 24, "Segment::lane has 24 bits");

void CriticalPath::Walker::emit(Interval span, IteratorId iterator, SegmentKind kind, LaneId lane) {
  if (span.start >= span.end) return;
  if (!segments_.empty()) {
    Segment& last = segments_.back();
    if (last.iterator == iterator && last.kind == kind && last.lane == lane && last.span.end == span.start) {
      last.span.end = span.end;
      return;
    }
  }
  segments_.push_back({span, iterator, kind, lane});
}

void CriticalPath::Walker::root_call(const RootCall& root, Interval window, int depth) {
  Picoseconds done = window.start;
  for (CallRef ref = root.first(); ref.row < root.end_row; ref.row = subtree_end_of(trace_, ref)) {
    const PackedSpan span = call_of(trace_, ref).span;
    const Interval inside{std::max(span.start(), done), std::min(span.end(), window.end)};
    if (inside.start >= inside.end) continue;
    emit({done, inside.start}, kNoIterator, SegmentKind::outside, root.lane);
    call(ref, inside, depth + 1);
    done = inside.end;
  }
  emit({done, window.end}, kNoIterator, SegmentKind::outside, root.lane);
}

void CriticalPath::Walker::call(CallRef ref, Interval window, int depth) {
  if (window.start >= window.end) return;
  if (depth > kDeepestWalk) return emit(window, iterator_of(ref), SegmentKind::self, ref.lane);
  const IteratorCalls& rows = trace_.lanes[ref.lane].iterator_calls;
  Picoseconds done = window.start;
  const std::uint32_t subtree_end = rows.subtree_end(ref.row);
  for (std::uint32_t row = ref.row + 1; row < subtree_end; row = rows.subtree_end(row)) {
    const Picoseconds start = rows[row].span.start();
    if (start >= window.end) break;
    const Interval inside{std::max(start, done), std::min(rows[row].span.end(), window.end)};
    if (inside.start >= inside.end) continue;
    gap(ref, {done, inside.start}, depth);
    call({ref.lane, row}, inside, depth + 1);
    done = inside.end;
  }
  gap(ref, {done, window.end}, depth);
}

void CriticalPath::Walker::gap(CallRef ref, Interval window, int depth) {
  if (window.start >= window.end) return;
  const IteratorId iterator = iterator_of(ref);
  switch (path_.gap_kinds_[index_of(iterator)]) {
    case GapKind::own_work:
      return own_work(ref, iterator, window);
    case GapKind::wait:
      return wait(ref, iterator, window, false, depth);
    case GapKind::wait_for_function:
      return wait(ref, iterator, window, true, depth);
    case GapKind::device_hop:
    case GapKind::data_service:
      return device_hop(ref, iterator, window, depth);
  }
}

/// Inside a run of the user's function the time is the function's, else the iterator's own.
void CriticalPath::Walker::own_work(CallRef ref, IteratorId iterator, Interval window) {
  std::size_t& next_run = next_run_[index_of(ref.lane)];
  visit_own_work(trace_.lanes[ref.lane], ref.row, window, next_run, [&](Interval piece, bool is_function) {
    emit(piece, iterator, is_function ? SegmentKind::function : SegmentKind::self, ref.lane);
  });
}

/// Follows a wait into the background calls below, the best ranked of those active at each moment.
void CriticalPath::Walker::wait(CallRef ref, IteratorId iterator, Interval window, bool has_function, int depth) {
  while (waits_.size() <= static_cast<std::size_t>(depth)) waits_.emplace_back();
  Wait& wait = waits_[static_cast<std::size_t>(depth)];
  wait.ref = ref;
  wait.iterator = iterator;
  wait.instance = call_of(trace_, ref).instance;
  wait.window = window;
  wait.has_function = has_function;
  wait.depth = depth;
  find_makers(wait);
  // From the last run of the function on, the wait is for the function.
  const Picoseconds input_end = wait.last_run ? std::clamp(*wait.last_run, window.start, window.end) : window.end;
  if (window.start < input_end) {
    find_candidates(wait, {window.start, input_end});
    follow_best(wait, {window.start, input_end});
  }
  emit({input_end, window.end}, iterator, SegmentKind::function, ref.lane);
}

/// The calls that fetched the input of the elements which the waiting call took, and the start of the last function
/// run among them.
void CriticalPath::Walker::find_makers(Wait& wait) {
  wait.makers.clear();
  wait.last_run.reset();
  const std::size_t lane = index_of(wait.ref.lane);
  const ChunkedVector<ConsumedElement>& consumed = trace_.lanes[lane].consumed;
  std::size_t& next = next_consumed_[lane];
  next = partition_point_near(consumed.size(), next, [&](std::size_t i) { return consumed[i].row < wait.ref.row; });
  for (; next < consumed.size() && consumed[next].row == wait.ref.row; ++next) {
    if (consumed[next].element != kNoRow) add_makers_of(consumed[next].element, wait);
  }
  std::sort(wait.makers.begin(), wait.makers.end(), is_earlier_call);
}

/// `element`: the first with its id.
void CriticalPath::Walker::add_makers_of(std::size_t element, Wait& wait) {
  const std::optional<std::uint64_t> own_id = trace_.instances[wait.instance].id;
  const std::vector<ProducedElement>& all = trace_.produced;
  const auto made_before_end = [&](std::size_t index) {
    if (index != element && (index < element || first_with_id_of(all, index) != element)) return index < element;
    const IteratorCalls& calls = trace_.lanes[LaneId{all[index].lane}].iterator_calls;
    const Picoseconds start = all[index].row == kNoRow ? 0 : calls[all[index].row].span.start();
    return start < wait.window.end;
  };
  // Backwards from the latest: ids may come again in a long trace, and what ended before the wait cannot explain it.
  for (std::size_t index = partition_point_near(all.size(), element, made_before_end); index > element; --index) {
    const ProducedElement& produced = all[index - 1];
    const LaneId maker{produced.lane};
    const Lane& lane = trace_.lanes[maker];
    bool ended_before = false;
    if (produced.row != kNoRow) {
      // Element ids are unique within one transformation only.
      const IteratorCall& input = lane.iterator_calls[produced.row];
      if (trace_.instances[input.instance].parent_id != own_id) continue;
      if (!forest_.is_same_iteration(input.instance, wait.instance)) continue;
      wait.makers.push_back({maker, produced.row});
      ended_before = input.span.end() <= wait.window.start;
    }
    if (wait.has_function && produced.last_run != kNoRow) {
      const Picoseconds run_start = lane.function_runs[produced.last_run].span.start();
      if (run_start < wait.window.end) wait.last_run = std::max(wait.last_run.value_or(run_start), run_start);
    }
    if (ended_before && (wait.last_run || !wait.has_function)) break;
  }
}

/// Adds the background calls of one iterator below the waiting one that are active in `window`, the latest first.
void CriticalPath::Walker::add_candidates(IteratorId id, Interval window, Wait& wait) {
  const LogicalIterator& iterator = forest_[id];
  const std::uint32_t distance = iterator.depth - forest_[wait.iterator].depth;
  std::size_t& next = next_top_call_[index_of(id)];
  next = partition_point_near(iterator.top_calls.size(), next, [&](std::size_t index) {
    return call_of(trace_, iterator.top_calls[index]).span.start() < window.end;
  });
  for (std::size_t end = next; end > 0;) {
    const std::size_t block = (end - 1) / kCallBlock;
    if (iterator.block_latest_end[block] <= window.start) break;
    for (; end > block * kCallBlock; --end) {
      const CallRef ref = iterator.top_calls[end - 1];
      const IteratorCall& call = call_of(trace_, ref);
      const Interval span{call.span.start(), call.span.end()};
      if (span.end <= window.start || span.start == span.end) continue;
      if (!forest_.is_same_iteration(call.instance, wait.instance)) continue;
      const bool made = std::binary_search(wait.makers.begin(), wait.makers.end(), ref, is_earlier_call);
      wait.candidates.push_back({span, ref, made, distance});
    }
  }
}

/// The background calls below the waiting iterator that may be the best ranked of those active in `window`. Nearer ones
/// win over farther ones, of which there may be a thousand times as many, so farther ones are looked for only in what
/// the nearer leave open at both ends; a call that made the element wins wherever it is.
void CriticalPath::Walker::find_candidates(Wait& wait, Interval window) {
  wait.candidates.clear();
  std::uint32_t farthest_maker = 0;
  for (const CallRef maker : wait.makers) farthest_maker = std::max(farthest_maker, forest_[iterator_of(maker)].depth);
  Interval open = window;        // not covered by nearer calls
  Interval still_open = window;  // nor by those as near
  std::uint32_t depth = 0;
  for (const IteratorId id : path_.descendants_[index_of(wait.iterator)]) {
    if (forest_[id].depth > std::max(depth, farthest_maker)) open = still_open;
    if (open.start >= open.end) break;
    depth = forest_[id].depth;
    const auto first = static_cast<std::ptrdiff_t>(wait.candidates.size());
    add_candidates(id, open, wait);
    for (auto latest = wait.candidates.begin() + first; latest != wait.candidates.end(); ++latest) {
      if (latest->span.end >= still_open.end) still_open.end = std::min(still_open.end, latest->span.start);
    }
    for (auto earliest = wait.candidates.end(); earliest != wait.candidates.begin() + first;) {
      --earliest;
      if (earliest->span.start <= still_open.start) {
        still_open.start = std::max(still_open.start, earliest->span.end);
      }
    }
  }
  std::sort(wait.candidates.begin(), wait.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.span.start < b.span.start; });
}

/// Goes through `window` from one moment to the next at which a candidate begins or the best one ends.
void CriticalPath::Walker::follow_best(Wait& wait, Interval window) {
  const std::vector<Candidate>& candidates = wait.candidates;
  const auto is_worse = [&](std::uint32_t a, std::uint32_t b) { return candidates[b].ranks_before(candidates[a]); };
  wait.running.clear();
  std::uint32_t next = 0;
  const Candidate* chosen = nullptr;
  Picoseconds chosen_since = window.start;
  for (Picoseconds now = window.start; now < window.end;) {
    for (; next < candidates.size() && candidates[next].span.start <= now; ++next) {
      wait.running.push_back(next);
      std::push_heap(wait.running.begin(), wait.running.end(), is_worse);
    }
    while (!wait.running.empty() && candidates[wait.running.front()].span.end <= now) {
      std::pop_heap(wait.running.begin(), wait.running.end(), is_worse);
      wait.running.pop_back();
    }
    const Candidate* best = wait.running.empty() ? nullptr : &candidates[wait.running.front()];
    if (best != chosen) {
      follow(wait, chosen, {chosen_since, now});
      chosen = best;
      chosen_since = now;
    }
    now = window.end;
    if (next < candidates.size()) now = std::min(now, candidates[next].span.start);
    if (best != nullptr) now = std::min(now, best->span.end);
  }
  follow(wait, chosen, {chosen_since, window.end});
}

void CriticalPath::Walker::follow(const Wait& wait, const Candidate* chosen, Interval window) {
  if (window.start >= window.end) return;
  if (chosen != nullptr) return call(chosen->call, window, wait.depth + 1);
  if (wait.has_function) return emit(window, wait.iterator, SegmentKind::function, wait.ref.lane);
  nothing_running(wait.ref, wait.iterator, window);
}

/// No call below was active. Between the first and the last call of the inputs that is a hand-over; outside of them
/// the window shows nothing.
void CriticalPath::Walker::nothing_running(CallRef ref, IteratorId iterator, Interval window) {
  Picoseconds first_start = std::numeric_limits<Picoseconds>::max();
  Picoseconds last_end = std::numeric_limits<Picoseconds>::min();
  const std::vector<IteratorId>& inputs = forest_[iterator].children;
  for (const IteratorId input : inputs) {
    if (forest_[input].top_calls.empty()) continue;
    first_start = std::min(first_start, call_of(trace_, forest_[input].top_calls.front()).span.start());
    last_end = std::max(last_end, forest_[input].block_latest_end.back());
  }
  const bool is_unseen = window.end <= first_start || window.start >= last_end;
  if (!is_unseen) return emit(window, iterator, SegmentKind::handoff, ref.lane);
  // The call of a parallel map that makes this element is cut off; its function is what fills such a time. Not the
  // parsing of ParseExample, of which a trace shows no run.
  if (inputs.size() == 1) {
    const DatasetKind& kind = forest_[inputs.front()].kind();
    if (kind.has(Trait::waits_for_function) && kind.has(Trait::dispatches_function)) {
      return emit(window, inputs.front(), SegmentKind::function, ref.lane);
    }
  }
  emit(window, iterator, SegmentKind::unseen, ref.lane);
}

/// The calls of other pipelines that a hop in `window` may have waited for, each list backwards in time. Never those of
/// a sibling replica, which has a Generator itself; a data service client is fed by its workers, which have no GetNext.
CriticalPath::Walker::Feeders CriticalPath::Walker::find_feeders(IteratorId iterator, Interval window) {
  Feeders feeders;
  const IteratorId own_root = forest_[iterator].root;
  const auto is_feeder = [&](IteratorId root) {
    return root != kNoIterator && root != own_root && !path_.has_device_hop(root);
  };
  if (path_.gap_kinds_[index_of(iterator)] != GapKind::data_service) {
    const std::vector<RootCall>& calls = forest_.root_calls;
    next_root_call_ = partition_point_near(calls.size(), next_root_call_,
                                           [&](std::size_t index) { return calls[index].span.start < window.end; });
    for (std::size_t index = next_root_call_; index > 0; --index) {
      if (path_.root_calls_latest_end_[index - 1] <= window.start) break;
      const RootCall& call = calls[index - 1];
      if (call.span.end > window.start && is_feeder(call.root)) feeders.root_calls.push_back(&call);
    }
  }
  const std::vector<CallRef>& calls = forest_.loose_root_calls;
  next_loose_call_ = partition_point_near(calls.size(), next_loose_call_, [&](std::size_t index) {
    return call_of(trace_, calls[index]).span.start() < window.end;
  });
  for (std::size_t index = next_loose_call_; index > 0; --index) {
    if (path_.loose_latest_end_[index - 1] <= window.start) break;
    const CallRef call = calls[index - 1];
    if (call_of(trace_, call).span.end() > window.start && is_feeder(iterator_of(call))) feeders.loose.push_back(call);
  }
  return feeders;
}

/// A Generator on a device and a data service client get their elements from another pipeline.
void CriticalPath::Walker::device_hop(CallRef ref, IteratorId iterator, Interval window, int depth) {
  Feeders feeders = find_feeders(iterator, window);
  if (feeders.root_calls.empty() && feeders.loose.empty()) return own_work(ref, iterator, window);
  Picoseconds done = window.start;
  const auto enter = [&](Interval span, const auto& follow) {
    const Interval inside{std::max(span.start, done), std::min(span.end, window.end)};
    if (inside.start >= inside.end) return;
    emit({done, inside.start}, iterator, SegmentKind::self, ref.lane);
    follow(inside);
    done = inside.end;
  };
  while (!feeders.root_calls.empty() || !feeders.loose.empty()) {
    const PackedSpan span = feeders.loose.empty() ? PackedSpan() : call_of(trace_, feeders.loose.back()).span;
    if (feeders.loose.empty() ||
        (!feeders.root_calls.empty() && feeders.root_calls.back()->span.start <= span.start())) {
      const RootCall& feeder = *feeders.root_calls.back();
      enter(feeder.span, [&](Interval inside) { root_call(feeder, inside, depth + 1); });
      feeders.root_calls.pop_back();
    } else {
      enter({span.start(), span.end()}, [&](Interval inside) { call(feeders.loose.back(), inside, depth + 1); });
      feeders.loose.pop_back();
    }
  }
  emit({done, window.end}, iterator, SegmentKind::self, ref.lane);
}

}  // namespace doctor
