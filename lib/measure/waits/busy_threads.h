#pragma once

#include "base/work.h"
#include "measure/functions/function_runs.h"
#include "measure/functions/op_kind.h"
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

/// The average number of threads at work.
struct BusyThreads {
  double all = 0;
  /// of these, threads in a region of the compute pool and in no op: they did a part of another thread's op
  double in_pool_only = 0;
};

/// Counts the threads that were at work while consumers waited: in an op that is neither Python nor a wrapper, in a
/// region of the compute pool, or in the own time of a synchronous iterator. Ops that wait for a core count as running,
/// so the result may exceed the number of cores.
///
/// One pass over all threads serves all pipelines. It adds up the work between consecutive moments at which a call of
/// `forest.root_calls` begins or ends, and so has an answer for any waits made of these calls.
class ThreadActivity {
 public:
  /// `op_kinds` is indexed by StringId.
  ThreadActivity(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                 const WorkOptions& work = {});

  /// The average during `waits` (disjoint, sorted), which must begin and end where root calls do; 0 if they are empty.
  BusyThreads during(std::span<const Interval> waits) const;

  /// The average number of closures that waited during such waits for a thread of a pool other than the compute pools.
  /// It is their total waiting time over the length of the waits, which is the mean length of a queue (Little, A Proof
  /// for the Queuing Formula L = lambda W, 1961). nullopt if the trace does not show how long closures waited (JSON,
  /// and traces without ids of closures), or if the waits are empty.
  std::optional<double> queued_closures_during(std::span<const Interval> waits) const;

 private:
  Picoseconds sum(const std::vector<Picoseconds>& until, std::span<const Interval> waits) const;

  std::vector<Picoseconds> moments_;  ///< sorted, each once
  // The work until moments_[i], added up over all threads; empty if there is none.
  std::vector<Picoseconds> all_until_;
  std::vector<Picoseconds> in_events_until_;  ///< threads with regions: their time in ops and iterators
  std::vector<Picoseconds> of_pools_until_;   ///< the same threads: all their work
  std::vector<Picoseconds> queued_until_;
  double queue_stride_ = 1;
};

}  // namespace doctor
