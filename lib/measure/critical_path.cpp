#include "measure/critical_path.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "measure/function_runs.h"
#include "measure/op_kind.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// Deeper nesting than any real pipeline: what is below is given to the iterator at this depth.
constexpr int kDeepestWalk = 200;

bool comes_before(CallRef a, CallRef b) {
  return std::make_tuple(a.lane, a.row) < std::make_tuple(b.lane, b.row);
}

/// Kinds whose function runs on other threads while GetNext waits for its result.
bool runs_function_in_background(std::string_view short_name) {
  const std::string_view name = without_version(short_name);
  return name == "ParallelMap" || name == "MapAndBatch" || name == "NumaMapAndBatch" || name == "ParallelFilter" ||
         name == "ParseExample";
}

bool is_wrapped_in_flat_map(const IteratorForest& forest, const LogicalIterator& iterator) {
  return iterator.parent != kNoIterator && without_version(forest[iterator.parent].short_name) == "FlatMap";
}

/// Function ids of the executor spans and function runs that contain a Python op.
std::unordered_set<std::uint64_t> functions_with_python(const Trace& trace) {
  std::unordered_set<std::uint64_t> functions;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      const OpCall& op = lane.ops[index];
      if (op.function_id.value() != 0 && is_python_op(trace.strings[op.type])) functions.insert(op.function_id.value());
    }
  }
  return functions;
}

}  // namespace

CriticalPath::CriticalPath(const Trace& trace, const IteratorForest& forest) : trace_(trace), forest_(forest) {
  const std::size_t count = forest.iterators.size();
  descendants_.resize(count);
  is_device_hop_.assign(count, false);
  has_device_hop_.assign(count, false);
  for (std::size_t index = 0; index < count; ++index) {
    const LogicalIterator& iterator = forest.iterators[index];
    is_device_hop_[index] = is_generator(iterator.short_name) && !is_wrapped_in_flat_map(forest, iterator);
    if (iterator.top_calls.empty()) continue;
    for (IteratorId above = iterator.parent; above != kNoIterator; above = forest[above].parent) {
      if (forest[above].is_async) descendants_[index_of(above)].push_back(static_cast<IteratorId>(index));
    }
  }
  if (std::find(is_device_hop_.begin(), is_device_hop_.end(), true) != is_device_hop_.end()) {
    const std::unordered_set<std::uint64_t> python = functions_with_python(trace);
    for (const Lane& lane : trace.lanes) {
      for (std::size_t run = 0; !python.empty() && run < lane.function_runs.size(); ++run) {
        const std::uint32_t row = lane.function_runs[run].row;
        if (row == kNoRow || !python.contains(lane.function_runs[run].function_id.value())) continue;
        is_device_hop_[index_of(forest.iterator_of(lane.iterator_calls[row]))] = false;
      }
    }
  }
  for (std::size_t index = 0; index < count; ++index) {
    if (is_device_hop_[index]) has_device_hop_[index_of(forest.iterators[index].root)] = true;
  }
  Picoseconds latest = std::numeric_limits<Picoseconds>::min();
  for (const RootCall& call : forest.root_calls) {
    root_calls_latest_end_.push_back(latest = std::max(latest, call.span.end));
  }
  latest = std::numeric_limits<Picoseconds>::min();
  for (const CallRef call : forest.loose_root_calls) {
    loose_latest_end_.push_back(latest = std::max(latest, call_of(trace, call).span.end()));
  }
}

/// One attribution: the stack of the recursion and where segments go.
struct CriticalPath::Walk {
  /// A background call that was active during a wait.
  struct Candidate {
    Interval span;
    CallRef call;
    bool made_the_element = false;
    std::uint32_t distance = 0;  ///< generations between the waiting iterator and this one

    auto rank() const {
      return std::make_tuple(!made_the_element, distance, span.start, index_of(call.lane), call.row);
    }
  };

  const CriticalPath& path;
  const Trace& trace;
  const IteratorForest& forest;
  std::vector<Segment>& segments;

  IteratorId iterator_of(CallRef ref) const { return forest.iterator_of(call_of(trace, ref)); }

  void emit(Interval span, IteratorId iterator, SegmentKind kind, LaneId lane) {
    if (span.start >= span.end) return;
    if (!segments.empty()) {
      Segment& last = segments.back();
      if (last.iterator == iterator && last.kind == kind && last.lane == lane && last.span.end == span.start) {
        last.span.end = span.end;
        return;
      }
    }
    segments.push_back({span, iterator, kind, lane});
  }

  void root_call(const RootCall& root, Interval window, int depth);
  void call(CallRef ref, Interval window, int depth);
  void gap(CallRef ref, Interval window, int depth);
  void own_work(CallRef ref, IteratorId iterator, Interval window);
  void wait(CallRef ref, IteratorId iterator, Interval window, int depth);
  void device_hop(CallRef ref, IteratorId iterator, Interval window, int depth);
  void nothing_running(CallRef ref, IteratorId iterator, Interval window);
  std::vector<CallRef> makers_of_consumed(CallRef ref, Interval window, bool wants_runs,
                                          std::optional<Picoseconds>& last_run) const;
  void add_candidates(IteratorId waiting, Interval window, const std::vector<CallRef>& makers,
                      std::vector<Candidate>& candidates) const;
};

void CriticalPath::attribute(const RootCall& call, std::vector<Segment>& segments) const {
  segments.clear();
  Walk{*this, trace_, forest_, segments}.root_call(call, call.span, 0);
}

void CriticalPath::Walk::root_call(const RootCall& root, Interval window, int depth) {
  Picoseconds done = window.start;
  for (const std::uint32_t row : root.rows) {
    const CallRef ref{root.lane, row};
    const PackedSpan span = call_of(trace, ref).span;
    const Interval inside{std::max(span.start(), done), std::min(span.end(), window.end)};
    if (inside.start >= inside.end) continue;
    emit({done, inside.start}, kNoIterator, SegmentKind::outside, root.lane);
    call(ref, inside, depth + 1);
    done = inside.end;
  }
  emit({done, window.end}, kNoIterator, SegmentKind::outside, root.lane);
}

void CriticalPath::Walk::call(CallRef ref, Interval window, int depth) {
  if (window.start >= window.end) return;
  if (depth > kDeepestWalk) return emit(window, iterator_of(ref), SegmentKind::self, ref.lane);
  const ChunkedVector<IteratorCall>& rows = trace.lanes[index_of(ref.lane)].iterator_calls;
  Picoseconds done = window.start;
  const std::uint32_t subtree_end = rows[ref.row].subtree_end;
  for (std::uint32_t row = ref.row + 1; row < subtree_end; row = rows[row].subtree_end) {
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

void CriticalPath::Walk::gap(CallRef ref, Interval window, int depth) {
  if (window.start >= window.end) return;
  const IteratorId iterator = iterator_of(ref);
  if (!forest[iterator].is_async) return own_work(ref, iterator, window);
  const std::string_view kind = forest[iterator].short_name;
  if (is_generator(kind) || kind.starts_with("DataService")) {
    return device_hop(ref, iterator, window, depth);
  }
  wait(ref, iterator, window, depth);
}

/// Inside a run of the user's function the time is the function's, else the iterator's own.
void CriticalPath::Walk::own_work(CallRef ref, IteratorId iterator, Interval window) {
  Picoseconds done = window.start;
  visit_function_runs(trace.lanes[index_of(ref.lane)], ref.row, window, [&](Interval run) {
    emit({done, run.start}, iterator, SegmentKind::self, ref.lane);
    emit(run, iterator, SegmentKind::function, ref.lane);
    done = run.end;
  });
  emit({done, window.end}, iterator, SegmentKind::self, ref.lane);
}

/// The calls that fetched the input of the elements which this call took (sorted), and the start of the last function
/// run among them: from there on the wait is for the function.
std::vector<CallRef> CriticalPath::Walk::makers_of_consumed(CallRef ref, Interval window, bool wants_runs,
                                                            std::optional<Picoseconds>& last_run) const {
  std::vector<CallRef> makers;
  const ChunkedVector<ConsumedElement>& consumed = trace.lanes[index_of(ref.lane)].consumed;
  const std::optional<std::uint64_t> own_id = trace.instances[index_of(call_of(trace, ref).instance)].id;
  const auto element_of = [&](ProducedRef produced) {
    return trace.lanes[index_of(produced.lane)].produced[produced.index].element_id.value();
  };
  const auto start_of_input = [&](ProducedRef produced) {
    const Lane& lane = trace.lanes[index_of(produced.lane)];
    const std::uint32_t row = lane.produced[produced.index].row;
    return row == kNoRow ? 0 : lane.iterator_calls[row].span.start();
  };
  std::size_t index = consumed.partition_point(0, [&](const ConsumedElement& c) { return c.row < ref.row; });
  for (; index < consumed.size() && consumed[index].row == ref.row; ++index) {
    const std::uint64_t element = consumed[index].element_id.value();
    // Backwards from the latest: ids may come again in a long trace, and what ended before the wait cannot explain it.
    auto found = std::partition_point(forest.produced.begin(), forest.produced.end(), [&](ProducedRef produced) {
      const std::uint64_t id = element_of(produced);
      return id != element ? id < element : start_of_input(produced) < window.end;
    });
    for (; found != forest.produced.begin() && element_of(*(found - 1)) == element; --found) {
      const ProducedRef made = *(found - 1);
      const Lane& lane = trace.lanes[index_of(made.lane)];
      const ProducedElement& produced = lane.produced[made.index];
      bool ended_before = false;
      if (produced.row != kNoRow) {
        // Element ids are unique within one transformation only.
        const IteratorCall& input = lane.iterator_calls[produced.row];
        if (trace.instances[index_of(input.instance)].parent_id != own_id) continue;
        makers.push_back({made.lane, produced.row});
        ended_before = input.span.end() <= window.start;
      }
      if (wants_runs && produced.last_run != kNoRow) {
        const Picoseconds run_start = lane.function_runs[produced.last_run].span.start();
        if (run_start < window.end) last_run = std::max(last_run.value_or(run_start), run_start);
      }
      if (ended_before && (last_run || !wants_runs)) break;
    }
  }
  std::sort(makers.begin(), makers.end(), comes_before);
  return makers;
}

void CriticalPath::Walk::add_candidates(IteratorId waiting, Interval window, const std::vector<CallRef>& makers,
                                        std::vector<Candidate>& candidates) const {
  for (const IteratorId id : path.descendants_[index_of(waiting)]) {
    const LogicalIterator& iterator = forest[id];
    const auto after = std::partition_point(iterator.top_calls.begin(), iterator.top_calls.end(),
                                            [&](CallRef ref) { return call_of(trace, ref).span.start() < window.end; });
    for (auto index = after - iterator.top_calls.begin(); index > 0; --index) {
      const auto place = static_cast<std::size_t>(index - 1);
      if (iterator.block_latest_end[place / kCallBlock] <= window.start) break;
      const CallRef ref = iterator.top_calls[place];
      const PackedSpan span = call_of(trace, ref).span;
      if (span.end() <= window.start || span.duration() == 0) continue;
      const bool made = std::binary_search(makers.begin(), makers.end(), ref, comes_before);
      const std::uint32_t distance = iterator.depth - forest[waiting].depth;
      candidates.push_back({{span.start(), span.end()}, ref, made, distance});
    }
  }
}

/// Follows a wait into the background calls below, the best ranked of those active at each moment.
void CriticalPath::Walk::wait(CallRef ref, IteratorId iterator, Interval window, int depth) {
  const bool has_function = runs_function_in_background(forest[iterator].short_name);
  std::optional<Picoseconds> last_run;
  const std::vector<CallRef> makers = makers_of_consumed(ref, window, has_function, last_run);
  const Picoseconds input_end = last_run ? std::clamp(*last_run, window.start, window.end) : window.end;
  const Interval input_wait{window.start, input_end};

  std::vector<Candidate> candidates;
  if (input_wait.start < input_wait.end) add_candidates(iterator, input_wait, makers, candidates);
  std::vector<Picoseconds> boundaries = {input_wait.start, input_wait.end};
  for (const Candidate& candidate : candidates) {
    boundaries.push_back(std::max(candidate.span.start, input_wait.start));
    boundaries.push_back(std::min(candidate.span.end, input_wait.end));
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.span.start < b.span.start; });

  const auto ranks_before = [](const Candidate* a, const Candidate* b) { return a->rank() < b->rank(); };
  std::set<const Candidate*, decltype(ranks_before)> active(ranks_before);
  std::size_t next = 0;
  const Candidate* chosen = nullptr;
  Picoseconds chosen_since = input_wait.start;
  const auto follow_chosen = [&](Picoseconds until) {
    const Interval piece{chosen_since, until};
    if (piece.start >= piece.end) return;
    if (chosen != nullptr) {
      call(chosen->call, piece, depth + 1);
    } else if (has_function) {
      emit(piece, iterator, SegmentKind::function, ref.lane);
    } else {
      nothing_running(ref, iterator, piece);
    }
  };
  for (std::size_t index = 0; index + 1 < boundaries.size(); ++index) {
    const Picoseconds now = boundaries[index];
    for (; next < candidates.size() && candidates[next].span.start <= now; ++next) active.insert(&candidates[next]);
    while (!active.empty() && (*active.begin())->span.end <= now) active.erase(active.begin());
    const Candidate* best = active.empty() ? nullptr : *active.begin();
    if (best == chosen) continue;
    follow_chosen(now);
    chosen = best;
    chosen_since = now;
  }
  follow_chosen(input_wait.end);
  emit({input_end, window.end}, iterator, SegmentKind::function, ref.lane);
}

/// No call below was active. Between the first and the last call of the inputs that is a hand-over; outside of them
/// the window shows nothing.
void CriticalPath::Walk::nothing_running(CallRef ref, IteratorId iterator, Interval window) {
  Picoseconds first_start = std::numeric_limits<Picoseconds>::max();
  Picoseconds last_end = std::numeric_limits<Picoseconds>::min();
  const std::vector<IteratorId>& inputs = forest[iterator].children;
  for (const IteratorId input : inputs) {
    if (forest[input].top_calls.empty()) continue;
    first_start = std::min(first_start, call_of(trace, forest[input].top_calls.front()).span.start());
    last_end = std::max(last_end, forest[input].block_latest_end.back());
  }
  const bool is_unseen = window.end <= first_start || window.start >= last_end;
  if (!is_unseen) return emit(window, iterator, SegmentKind::handoff, ref.lane);
  // The call of a parallel map that makes this element is cut off; its function is what fills such a time.
  if (inputs.size() == 1) {
    const std::string_view kind = without_version(forest[inputs.front()].short_name);
    if (kind == "ParallelMap" || kind == "MapAndBatch") {
      return emit(window, inputs.front(), SegmentKind::function, ref.lane);
    }
  }
  emit(window, iterator, SegmentKind::unseen, ref.lane);
}

/// A Generator on a device and a data service client get their elements from another pipeline: never from a sibling
/// replica, which has a Generator itself.
void CriticalPath::Walk::device_hop(CallRef ref, IteratorId iterator, Interval window, int depth) {
  const bool is_service = forest[iterator].short_name.starts_with("DataService");
  if (!is_service && !path.is_device_hop(iterator)) return own_work(ref, iterator, window);
  const IteratorId own_root = forest[iterator].root;
  const auto is_feeder = [&](IteratorId root) {
    return root != kNoIterator && root != own_root && !path.has_device_hop(root);
  };
  std::vector<std::pair<Picoseconds, const RootCall*>> feeders;
  std::vector<std::pair<Picoseconds, CallRef>> loose;
  const std::vector<RootCall>& calls = forest.root_calls;
  auto index = static_cast<std::size_t>(
      std::partition_point(calls.begin(), calls.end(),
                           [&](const RootCall& call) { return call.span.start < window.end; }) -
      calls.begin());
  for (; !is_service && index > 0 && path.root_calls_latest_end_[index - 1] > window.start; --index) {
    const RootCall& call = calls[index - 1];
    if (call.span.end > window.start && is_feeder(call.root)) feeders.emplace_back(call.span.start, &call);
  }
  const std::vector<CallRef>& loose_calls = forest.loose_root_calls;
  index = static_cast<std::size_t>(
      std::partition_point(loose_calls.begin(), loose_calls.end(),
                           [&](CallRef other) { return call_of(trace, other).span.start() < window.end; }) -
      loose_calls.begin());
  for (; index > 0 && path.loose_latest_end_[index - 1] > window.start; --index) {
    const CallRef other = loose_calls[index - 1];
    const PackedSpan span = call_of(trace, other).span;
    if (span.end() > window.start && is_feeder(iterator_of(other))) loose.emplace_back(span.start(), other);
  }
  if (feeders.empty() && loose.empty()) return own_work(ref, iterator, window);

  Picoseconds done = window.start;
  const auto enter = [&](Interval span, const auto& follow) {
    const Interval inside{std::max(span.start, done), std::min(span.end, window.end)};
    if (inside.start >= inside.end) return;
    emit({done, inside.start}, iterator, SegmentKind::self, ref.lane);
    follow(inside);
    done = inside.end;
  };
  // Both lists were collected backwards in time.
  while (!feeders.empty() || !loose.empty()) {
    if (loose.empty() || (!feeders.empty() && feeders.back().first <= loose.back().first)) {
      const RootCall& feeder = *feeders.back().second;
      enter(feeder.span, [&](Interval inside) { root_call(feeder, inside, depth + 1); });
      feeders.pop_back();
    } else {
      const CallRef other = loose.back().second;
      const PackedSpan span = call_of(trace, other).span;
      enter({span.start(), span.end()}, [&](Interval inside) { call(other, inside, depth + 1); });
      loose.pop_back();
    }
  }
  emit({done, window.end}, iterator, SegmentKind::self, ref.lane);
}

}  // namespace doctor
