#pragma once

#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "measure/function_owners.h"
#include "measure/op_kind.h"

namespace doctor {

/// What happened while calls waited for one iterator's function. Sums of whole picoseconds: they do not depend on the
/// order of adding up. Wrapper ops are left out.
struct FunctionActivity {
  using OpOf = std::pair<IteratorId, StringId>;  ///< an op type, and whose function it is in: kNoIterator is none's

  std::map<StringId, Picoseconds> ops;  ///< of the function, by type: a moment counts once for a type
  Picoseconds active = 0;               ///< any of them ran
  Picoseconds idle = 0;                 ///< none of them ran
  std::map<OpOf, Picoseconds> beside;   ///< ops of others in the idle time; a moment counts once for each

  void add(const FunctionActivity& other);
};

/// Adds up what one iterator's functions do, one GetNext call after another, so that the pieces of a long trace need
/// not be kept.
class FunctionOps {
 public:
  /// `op_kinds` is indexed by StringId. `from`: where the first window begins, or before it. All arguments must outlive
  /// this object.
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
    std::size_t lane = 0;  ///< in Trace::lanes
    const ChunkedVector<OpCall>* ops = nullptr;
    std::size_t next = 0;              ///< the ops before it began before the windows to come
    std::vector<std::size_t> ongoing;  ///< those of them that may reach into these windows
  };

  void collect_parts(LaneOps& lane, std::span<const Interval> windows);
  void collect_part(const LaneOps& lane, std::size_t index, std::span<const Interval> windows);
  void add_idle_time(std::span<const Interval> windows);

  const std::vector<OpKind>& op_kinds_;
  const FunctionOwners& owners_;
  const IteratorId iterator_;
  std::vector<LaneOps> lanes_;  ///< those that have ops
  std::vector<Part> parts_;     ///< of the function, in the windows
  std::vector<Part> others_;    ///< ops of others, whole
  std::vector<Interval> idle_;
  std::vector<Interval> clipped_;
  FunctionActivity activity_;
};

}  // namespace doctor
