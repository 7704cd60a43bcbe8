#pragma once

#include "base/ids.h"
#include "base/work.h"
#include "trace/trace.h"
#include "tree/dataset_kinds.h"

namespace doctor {

/// One iterator call in the trace: a row of a lane's iterator_calls.
struct CallRef {
  LaneId lane{};
  std::uint32_t row = 0;
};

inline constexpr std::size_t kCallBlock = 16;

/// The greatest number of iterators of a trace that are told apart, because each costs kilobytes of measurements. Real
/// pipelines have some dozen.
inline constexpr std::size_t kMostIterators = 8'192;

inline const IteratorCall& call_of(const Trace& trace, CallRef ref) {
  return trace.lanes[ref.lane].iterator_calls[ref.row];
}

/// The row of the lane at which the calls nested in this call end.
inline std::uint32_t subtree_end_of(const Trace& trace, CallRef ref) {
  return trace.lanes[ref.lane].iterator_calls.subtree_end(ref.row);
}

/// An iterator's names and its place in the pipeline.
struct IteratorNode : OfKind {
  std::string long_name;             ///< as in the trace, without the indices of like elements if several were folded
  std::string dataset_name;          ///< "ParallelMapDatasetV2:4"; empty if the trace has none
  IteratorId parent = kNoIterator;   ///< the transformation that calls this one
  IteratorId root = kNoIterator;     ///< outermost ancestor; a root is its own
  std::vector<IteratorId> children;  ///< inputs, by first appearance
  std::uint32_t depth = 0;           ///< 0 for a root
  bool is_async = false;
};

/// What a user would call one iterator: all instances that differ only in epoch, file or element and are the same
/// transformation in the same place of the same pipeline. That includes pipelines that are made anew for each epoch.
struct LogicalIterator : IteratorNode {
  std::vector<InstanceId> instances;  ///< by first appearance
  std::vector<Attribute> attributes;  ///< the last value of each, over all instances
  std::uint64_t call_count = 0;

  /// Calls that are nested in no other iterator call and no GetNext op, so background work, sorted by start.
  std::vector<CallRef> top_calls;
  /// block_latest_end[b] is the latest end of top_calls[0 .. (b + 1) * kCallBlock). It tells a search for overlaps how
  /// far to look back. There is one for each block, because one for each call would be as large as the calls.
  std::vector<Picoseconds> block_latest_end;
};

/// A call by the consumer into a pipeline: what the training loop waits for.
struct RootCall {
  Interval span;
  IteratorId root = kNoIterator;  ///< kNoIterator: a bare GetNext op, inside of which the trace shows nothing
  LaneId lane{};
  /// The outermost iterator calls inside are rows of the lane, by start. The first is `first_row`; the next one begins
  /// where its predecessor ends (IteratorCalls::subtree_end()), as long as that is before `end_row`. There are none if
  /// the two are equal.
  std::uint32_t first_row = 0;
  std::uint32_t end_row = 0;

  bool has_rows() const { return first_row < end_row; }
  CallRef first() const { return {lane, first_row}; }
};

/// The iterators of one trace as trees, with their calls. Plain data that refers to the Trace by index.
struct IteratorForest {
  IndexedBy<IteratorId, std::vector<LogicalIterator>> iterators;  ///< parents may come after their children
  std::vector<IteratorId> iterator_of_instance;                   ///< indexed by InstanceId
  /// The number of earlier iterations of an instance's pipeline, as new pipelines of the same structure. Indexed by
  /// InstanceId; empty if there were none.
  std::vector<std::uint32_t> iteration_of_instance;
  std::vector<IteratorId> roots;       ///< by first appearance
  std::vector<IteratorId> loop_roots;  ///< the roots that an op consumes by going over the dataset, without GetNext
  std::uint64_t too_deep = 0;          ///< number of iterators so deep that they were moved up
  /// number of instances beyond kMostIterators, which count as the last iterator
  std::uint64_t too_many = 0;
  std::vector<RootCall> root_calls;       ///< sorted by start
  std::vector<CallRef> loose_root_calls;  ///< calls of roots outside of GetNext ops, sorted by start

  /// Tests whether both may belong to the same iteration of their pipeline: no call waits for work of another epoch.
  bool is_same_iteration(InstanceId a, InstanceId b) const {
    return iteration_of_instance.empty() || iteration_of_instance[index_of(a)] == iteration_of_instance[index_of(b)];
  }

  const LogicalIterator& operator[](IteratorId id) const { return iterators[index_of(id)]; }
  IteratorId iterator_of(const IteratorCall& call) const { return iterator_of_instance[index_of(call.instance)]; }
};

/// A number that an iterator carries as an attribute, e.g. "parallelism"; nullopt if it has none or it is a text
/// ("unavailable").
std::optional<std::int64_t> number_attribute(const Trace& trace, const LogicalIterator& iterator,
                                             std::string_view name);

/// Builds the trees: parents by parent id, else by the longest prefix of the long name in the same pipeline. Cycles of
/// parent ids, duplicate ids and missing parents are tolerated.
IteratorForest build_tree(const Trace& trace, const WorkOptions& work = {});

}  // namespace doctor
