#pragma once

#include "measure/functions/function_owners.h"
#include "measure/functions/op_kind.h"

namespace doctor {

/// The activity while calls waited for one iterator's function. The sums are whole picoseconds, so they do not depend
/// on the order of addition. Wrapper ops are left out.
struct FunctionActivity {
  /// the iterator whose function the op is in, kNoIterator if none, and the op's type
  using OpOf = std::pair<IteratorId, StringId>;

  std::map<StringId, Picoseconds> ops;  ///< ops of the function by type; a moment counts once for a type
  Picoseconds active = 0;               ///< the time in which any of these ops ran
  Picoseconds idle = 0;                 ///< the time in which none of them ran
  std::map<OpOf, Picoseconds> beside;   ///< other ops in the idle time; a moment counts once for each

  void add(const FunctionActivity& other);
};

/// Adds up the activity of one iterator's functions, GetNext call by GetNext call, so that the pieces of a long trace
/// need not be kept.
class FunctionOps {
 public:
  /// `op_kinds` is indexed by StringId. `from` is at or before the start of the first window. All arguments must
  /// outlive this object.
  FunctionOps(const Trace& trace, const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
              IteratorId iterator, Picoseconds from = std::numeric_limits<Picoseconds>::min());

  /// Adds the ops within `windows` (disjoint, sorted), which must begin after all windows added before.
  void add(std::span<const Interval> windows);

  const FunctionActivity& activity() const { return activity_; }

 private:
  struct Part {
    FunctionActivity::OpOf op;
    Interval time;
  };
  struct LaneOps {
    std::size_t lane = 0;  ///< index into Trace::lanes
    const ChunkedVector<OpCall>* ops = nullptr;
    std::size_t next = 0;              ///< earlier ops began before the windows to come
    std::vector<std::size_t> ongoing;  ///< earlier ops that may reach into these windows
  };

  void collect_parts(LaneOps& lane, std::span<const Interval> windows);
  void collect_part(const LaneOps& lane, std::size_t index, std::span<const Interval> windows);
  void add_idle_time(std::span<const Interval> windows);

  const std::vector<OpKind>& op_kinds_;
  const FunctionOwners& owners_;
  const IteratorId iterator_;
  std::vector<LaneOps> lanes_;  ///< lanes that have ops
  std::vector<Part> parts_;     ///< ops of the function, in the windows
  std::vector<Part> others_;    ///< other ops, whole
  std::vector<Interval> idle_;
  std::vector<Interval> clipped_;
  FunctionActivity activity_;
};

}  // namespace doctor
