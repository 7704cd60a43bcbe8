#pragma once

#include <map>
#include <span>
#include <vector>

#include "measure/function_ids.h"
#include "measure/op_kind.h"

namespace doctor {

/// Adds up the ops of one iterator's functions, one GetNext call after another, so that the pieces of a long trace need
/// not be kept.
class FunctionOps {
 public:
  /// `op_kinds` is indexed by StringId. All arguments must outlive this object.
  FunctionOps(const Trace& trace, const std::vector<OpKind>& op_kinds, const FunctionIds& functions);

  /// Adds the ops within `windows` (disjoint, sorted), which must begin after all windows added before.
  void add(std::span<const Interval> windows);

  /// By type; wrapper ops are left out.
  const std::map<StringId, Picoseconds>& totals() const { return totals_; }

 private:
  struct Part {
    StringId type;
    Interval time;
  };
  struct LaneOps {
    const ChunkedVector<OpCall>* ops;
    std::size_t next;  ///< the ops before it ended before the windows to come
  };

  void collect_parts(LaneOps& lane, std::span<const Interval> windows);

  const std::vector<OpKind>& op_kinds_;
  const FunctionIds& functions_;
  std::vector<LaneOps> lanes_;  ///< those that have ops
  std::vector<Part> parts_;
  std::vector<Interval> clipped_;
  std::map<StringId, Picoseconds> totals_;
};

}  // namespace doctor
