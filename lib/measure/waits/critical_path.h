#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "measure/functions/op_kind.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The reason for a segment of a GetNext call: what the consumer waited for.
enum class SegmentKind : std::uint8_t {
  self,      ///< the iterator's own work
  function,  ///< the user's function that the iterator calls
  handoff,   ///< passing an element between threads: the input was ready, or nothing below was running
  unseen,    ///< work that the window does not show: before the first or after the last call of the input
  outside,   ///< inside the GetNext op but in no iterator
};

/// A piece of a GetNext call's latency, held by one iterator on one thread.
struct Segment {
  Segment(Interval time, IteratorId held_by, SegmentKind what, LaneId where)
      : span(time), iterator(held_by), kind(what), lane(where) {}

  Interval span;
  IteratorId iterator;  ///< kNoIterator only for `outside`
  // A kind and a lane in 4 bytes: a call of a damaged trace may have as many segments as the trace has iterators.
  SegmentKind kind : 8;
  LaneId lane : 24;  ///< where it was observed; there are at most kMostLanes

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// Walks from the consumer to whatever it waited for, across threads. This class holds what the walks need to know of
/// the whole trace; a CriticalPath::Walker walks.
///
/// Invariant: the segments of a call are in order of time, without gaps or overlaps, and sum to its latency exactly.
///
/// The algorithm is in measure/README.md, "The walk".
class CriticalPath {
 public:
  class Walker;

  /// `op_kinds`: op_kinds_of() of the trace's strings; not kept.
  CriticalPath(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds);

  /// Tests whether a Generator only fetches from a pipeline on another device or host. The other kind,
  /// from_generator(), runs Python code: it stands below the flat_map that the API wraps around it, or a Python op is
  /// seen in it.
  bool is_device_hop(IteratorId iterator) const { return is_device_hop_[index_of(iterator)]; }

  /// Tests whether the pipeline of this root gets its elements from another pipeline of the trace.
  bool has_device_hop(IteratorId root) const { return has_device_hop_[index_of(root)]; }

 private:
  /// The activity of an iterator between the calls nested in its own call.
  enum class GapKind : std::uint8_t {
    own_work,
    wait,               ///< waits for the iterators below, which run on other threads
    wait_for_function,  ///< the same, and waits for its function, which runs on other threads too
    device_hop,         ///< waits for another pipeline
    data_service,       ///< the same, for a pipeline that a worker runs without GetNext
  };

  void find_device_hops(const std::vector<OpKind>& op_kinds);
  GapKind gap_kind_of(IteratorId id) const;

  const Trace& trace_;
  const IteratorForest& forest_;
  std::vector<std::vector<IteratorId>>
      descendants_;                   ///< indexed by IteratorId: its descendants with background calls, nearest first
  std::vector<bool> is_device_hop_;   ///< indexed by IteratorId
  std::vector<bool> has_device_hop_;  ///< indexed by IteratorId, true at roots
  std::vector<GapKind> gap_kinds_;    ///< indexed by IteratorId
  std::vector<Picoseconds> root_calls_latest_end_;  ///< prefix maximum over forest.root_calls
  std::vector<Picoseconds> loose_latest_end_;       ///< prefix maximum over forest.loose_root_calls
};

/// Attributes one GetNext call after another. It keeps its buffers and remembers where in the trace it found the last
/// call, so calls in order of time are fastest. Threads that share a CriticalPath have a walker each.
class CriticalPath::Walker {
 public:
  explicit Walker(const CriticalPath& path);

  /// The segments of one call, valid until the next call.
  std::span<const Segment> attribute(const RootCall& call);

 private:
  /// A background call that was active during a wait.
  struct Candidate {
    Interval span;
    CallRef call;
    bool made_the_element = false;
    std::uint32_t distance = 0;  ///< generations between the waiting iterator and this one

    bool ranks_before(const Candidate& other) const;
  };

  /// A gap of an asynchronous iterator that is being followed. One is open for each depth of the walk.
  struct Wait {
    CallRef ref;
    IteratorId iterator = kNoIterator;
    InstanceId instance{};
    Interval window;
    bool has_function = false;
    int depth = 0;
    std::optional<Picoseconds> last_run;  ///< latest start of the function runs that make the elements taken

    std::vector<CallRef> makers;         ///< the calls that fetched the input of the elements taken, sorted
    std::vector<Candidate> candidates;   ///< sorted by start
    std::vector<std::uint32_t> running;  ///< heap of the candidates that have begun, the best on top
  };

  struct Feeders {
    std::vector<const RootCall*> root_calls;
    std::vector<CallRef> loose;
  };

  IteratorId iterator_of(CallRef ref) const { return forest_.iterator_of(call_of(trace_, ref)); }

  void emit(Interval span, IteratorId iterator, SegmentKind kind, LaneId lane);
  void root_call(const RootCall& root, Interval window, int depth);
  void call(CallRef ref, Interval window, int depth);
  void gap(CallRef ref, Interval window, int depth);
  void own_work(CallRef ref, IteratorId iterator, Interval window);
  Feeders find_feeders(IteratorId iterator, Interval window);
  void device_hop(CallRef ref, IteratorId iterator, Interval window, int depth);

  void wait(CallRef ref, IteratorId iterator, Interval window, bool has_function, int depth);
  void find_makers(Wait& wait);
  void add_makers_of(std::size_t element, Wait& wait);
  void add_candidates(IteratorId id, Interval window, Wait& wait);
  void find_candidates(Wait& wait, Interval window);
  void follow_best(Wait& wait, Interval window);
  void follow(const Wait& wait, const Candidate* chosen, Interval window);
  void nothing_running(CallRef ref, IteratorId iterator, Interval window);

  const CriticalPath& path_;
  const Trace& trace_;
  const IteratorForest& forest_;
  std::vector<Segment> segments_;
  std::deque<Wait> waits_;  ///< indexed by depth; a deque, because deeper waits are added while one is open

  // The end of the last search, where the next one begins.
  std::vector<std::size_t> next_run_;       ///< indexed by LaneId, into Lane::function_runs
  std::vector<std::size_t> next_consumed_;  ///< indexed by LaneId, into Lane::consumed
  std::vector<std::size_t> next_top_call_;  ///< indexed by IteratorId, into its top_calls
  std::size_t next_root_call_ = 0;
  std::size_t next_loose_call_ = 0;
};

}  // namespace doctor
