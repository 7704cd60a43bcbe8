#pragma once

#include "measure/waits/critical_path.h"

namespace doctor {

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
