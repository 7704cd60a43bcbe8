#pragma once

#include "measure/function_runs.h"
#include "measure/own_part.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Joins intervals that touch or overlap, in order of start, and hands them to `visit(Interval)`. Consecutive nested
/// calls become one piece, which leaves a fourth of the pieces.
template <typename Visit>
class JoinedPieces {
 public:
  explicit JoinedPieces(Visit visit) : visit_(visit) {}

  void add(Interval piece) {
    if (piece.start <= open_.end) {
      open_.end = std::max(open_.end, piece.end);
      return;
    }
    finish();
    open_ = piece;
  }
  /// Hands on the last piece.
  void finish() {
    if (open_.start < open_.end) visit_(open_);
  }

 private:
  Visit visit_;
  Interval open_{INT64_MIN, INT64_MIN};
};

/// Calls `visit(Interval)` for the time in which synchronous iterators of `lane` worked themselves: outside of their
/// nested calls and of runs of the user's functions, whose ops count elsewhere. Pieces come in order of time, and those
/// that touch are one. Calls that start at `until` or later are left out.
template <typename Visit>
void visit_sync_work(const Lane& lane, const IteratorForest& forest, Picoseconds until, Visit visit) {
  const auto is_sync = [&](const IteratorCall& call) { return !forest[forest.iterator_of(call)].is_async; };
  FunctionRunsAhead runs(lane.function_runs);
  JoinedPieces pieces(visit);
  visit_own_times(lane.iterator_calls, until, is_sync, [&](std::uint32_t row, Interval own) {
    if (!runs.may_reach_into(own)) return pieces.add(own);
    std::size_t next_run = runs.next();
    visit_own_work(lane, row, own, next_run, [&](Interval piece, bool is_function) {
      if (!is_function && piece.start < piece.end) pieces.add(piece);
    });
  });
  pieces.finish();
}

}  // namespace doctor
