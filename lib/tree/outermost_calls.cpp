#include "base/merge.h"
#include "base/parallel.h"
#include "tree/tree_passes.h"

namespace doctor {
namespace {

constexpr Picoseconds kAlways = std::numeric_limits<Picoseconds>::max();

/// Stands on one of a lane's calls that neither an iterator call nor a GetNext op encloses.
class OutermostCall {
 public:
  OutermostCall(const Trace& trace, LaneId lane) : lane_(&trace.lanes[lane]), ref_{lane, 0} { settle(); }

  /// The same, up to calls that start at `until` or later.
  OutermostCall before(Picoseconds until) const {
    OutermostCall call = *this;
    call.until_ = until;
    return call;
  }

  bool done() const { return start_ >= until_; }
  void next() {
    ref_.row = lane_->iterator_calls.subtree_end(ref_.row);
    settle();
  }
  CallRef ref() const { return ref_; }
  const IteratorCall& call() const { return lane_->iterator_calls[ref_.row]; }

  friend bool operator<(const OutermostCall& a, const OutermostCall& b) {
    return a.start_ != b.start_ ? a.start_ < b.start_ : a.ref_.lane < b.ref_.lane;
  }

 private:
  /// Goes on to the next call that is in no GetNext op.
  void settle() {
    const IteratorCalls& calls = lane_->iterator_calls;
    const ChunkedVector<GetNextCall>& get_next = lane_->get_next_calls;
    for (; ref_.row < calls.size(); ref_.row = calls.subtree_end(ref_.row)) {
      while (next_get_next_ < get_next.size() && get_next[next_get_next_].end_row <= ref_.row) ++next_get_next_;
      if (next_get_next_ < get_next.size() && get_next[next_get_next_].first_row <= ref_.row) continue;
      start_ = calls[ref_.row].span.start();
      return;
    }
    start_ = kAlways;
  }

  const Lane* lane_;
  CallRef ref_;
  std::size_t next_get_next_ = 0;
  Picoseconds start_ = kAlways;  ///< of the call; after the last one beyond every PackedSpan
  Picoseconds until_ = kAlways;
};

/// What starts in one part of the window, which one thread of this program collects.
struct PartOfTime {
  Picoseconds until = kAlways;
  std::vector<OutermostCall> firsts;        ///< of the lanes that have some
  std::vector<std::size_t> begins;          ///< indexed by IteratorId: where its calls stand in top_calls
  std::vector<std::size_t> counts;          ///< likewise: how many they are
  std::vector<Picoseconds> latest_ends;     ///< likewise: of these
  std::vector<Picoseconds> of_first_block;  ///< likewise: of those in a block that an earlier part begins
  std::vector<CallRef> loose;               ///< of the calls those of roots, in order of start
};

/// As many as threads, of about as many rows of the longest lane.
std::vector<PartOfTime> parts_of_time(const Trace& trace, std::size_t iterators, const WorkOptions& work) {
  constexpr std::size_t kMostLanes = 4'096;  // each has a place in each part
  constexpr unsigned kMostParts = 8;
  const bool may_split = trace.lanes.size() <= kMostLanes;
  const unsigned count = may_split ? std::min(threads_for(work, trace.iterator_event_count), kMostParts) : 1;
  std::vector<PartOfTime> parts(count);
  const auto longest = std::max_element(trace.lanes.begin(), trace.lanes.end(), [](const Lane& a, const Lane& b) {
    return a.iterator_calls.size() < b.iterator_calls.size();
  });
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part].begins.assign(iterators, 0);
    parts[part].counts.assign(iterators, 0);
    parts[part].latest_ends.assign(iterators, std::numeric_limits<Picoseconds>::min());
    parts[part].of_first_block = parts[part].latest_ends;
    if (part + 1 == parts.size() || longest == trace.lanes.end() || longest->iterator_calls.empty()) continue;
    const std::size_t row = longest->iterator_calls.size() * (part + 1) / parts.size();
    parts[part].until = longest->iterator_calls[row].span.start();
  }
  return parts;
}

/// Where the lane's calls of each part begin, and how many each iterator has.
void count_calls(const Trace& trace, const IteratorForest& forest, const WorkOptions& work,
                 std::vector<PartOfTime>& parts) {
  const unsigned threads = threads_for(work, trace.iterator_event_count);
  const std::vector<std::size_t> lanes =
      largest_first(trace.lanes.size(), [&](std::size_t lane) { return trace.lanes[lane].iterator_calls.size(); });
  std::vector<std::vector<PartOfTime>> found(threads, parts);
  run_parallel(threads, lanes.size(), [&](std::size_t task, std::size_t worker) {
    OutermostCall call(trace, static_cast<LaneId>(lanes[task]));
    for (PartOfTime& part : found[worker]) {
      call = call.before(part.until);
      if (!call.done()) part.firsts.push_back(call);
      for (; !call.done(); call.next()) ++part.counts[index_of(forest.iterator_of(call.call()))];
    }
  });
  for (const std::vector<PartOfTime>& by_worker : found) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      parts[part].firsts.insert(parts[part].firsts.end(), by_worker[part].firsts.begin(), by_worker[part].firsts.end());
      for (std::size_t id = 0; id < parts[part].counts.size(); ++id)
        parts[part].counts[id] += by_worker[part].counts[id];
    }
  }
}

/// Just as much as the calls need: growing would take twice as much for a moment.
void make_room(IteratorForest& forest, std::vector<PartOfTime>& parts) {
  for (std::size_t id = 0; id < forest.iterators.size(); ++id) {
    std::size_t count = 0;
    for (PartOfTime& part : parts) {
      part.begins[id] = count;
      count += part.counts[id];
    }
    forest.iterators[id].top_calls.resize(count);
    forest.iterators[id].block_latest_end.resize((count + kCallBlock - 1) / kCallBlock);
  }
}

void collect(IteratorForest& forest, PartOfTime& part) {
  std::vector<std::size_t> places = part.begins;
  visit_merged(std::move(part.firsts), [&](const OutermostCall& outermost) {
    const IteratorCall& call = outermost.call();
    const std::size_t id = index_of(forest.iterator_of(call));
    LogicalIterator& iterator = forest.iterators[id];
    const std::size_t place = places[id]++;
    Picoseconds& latest = part.latest_ends[id];
    latest = std::max(latest, call.span.end());
    const std::size_t block = place / kCallBlock;
    (block * kCallBlock < part.begins[id] ? part.of_first_block[id] : iterator.block_latest_end[block]) = latest;
    iterator.top_calls[place] = outermost.ref();
    if (iterator.parent == kNoIterator) part.loose.push_back(outermost.ref());
  });
}

/// Each part knows its own calls only.
void join_latest_ends(LogicalIterator& iterator, std::size_t id, const std::vector<PartOfTime>& parts) {
  Picoseconds latest = parts.front().latest_ends[id];
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const PartOfTime& of = parts[part];
    if (of.counts[id] == 0) continue;
    const std::size_t end = (of.begins[id] + of.counts[id] + kCallBlock - 1) / kCallBlock;
    for (std::size_t block = of.begins[id] / kCallBlock; block < end; ++block) {
      Picoseconds& of_block = iterator.block_latest_end[block];
      if (block * kCallBlock < of.begins[id]) of_block = std::max(of_block, of.of_first_block[id]);
      of_block = std::max(of_block, latest);
    }
    latest = std::max(latest, of.latest_ends[id]);
  }
}

}  // namespace

void collect_outermost_calls(const Trace& trace, IteratorForest& forest, const WorkOptions& work) {
  std::vector<PartOfTime> parts = parts_of_time(trace, forest.iterators.size(), work);
  count_calls(trace, forest, work, parts);
  make_room(forest, parts);
  run_parallel(static_cast<unsigned>(parts.size()), parts.size(),
               [&](std::size_t part) { collect(forest, parts[part]); });
  for (std::size_t id = 0; id < forest.iterators.size(); ++id) join_latest_ends(forest.iterators[id], id, parts);
  std::size_t loose_count = 0;
  for (const PartOfTime& part : parts) loose_count += part.loose.size();
  forest.loose_root_calls.reserve(loose_count);
  for (const PartOfTime& part : parts) {
    forest.loose_root_calls.insert(forest.loose_root_calls.end(), part.loose.begin(), part.loose.end());
  }
}

}  // namespace doctor
