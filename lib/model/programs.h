#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "measure/cycles.h"
#include "measure/measurements.h"
#include "model/edit.h"
#include "model/sample_facts.h"

namespace doctor {

/// What a thread of a replay does next: it takes an element, or works and then waits. Times in us.
struct Action {
  StageIndex pull = kNoStage;  ///< whose buffer it takes an element from; kNoStage: none
  float cpu = 0;
  float cores = 1;
  float wait = 0;
  bool holds_pool_thread = false;  ///< a function: it works and waits on a thread of the pool
};

/// Actions [first, end).
struct Program {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// One run of a function on a thread of the pool.
struct Job {
  float cpu = 0;
  float python = 0;   ///< neither on a core nor, as far as a trace shows, in need of one
  float calling = 0;  ///< before it has a thread
};

/// What makes the elements of one buffer.
struct Producer {
  enum class Kind {
    feeder,      ///< threads that make one element after another
    dispatcher,  ///< one thread that takes the input, and a job of the pool for each element
  };
  Kind kind = Kind::feeder;
  std::int64_t threads = 1;      ///< of a feeder
  std::int64_t parallelism = 1;  ///< of a dispatcher: elements in work at once
  std::int64_t limit = 2;        ///< elements begun and not yet taken
  std::int64_t batch = 1;        ///< elements that one pull takes, all of them at once
  /// What `limit` grows to. Of a dispatcher by a batch each time, while somebody waits and calls are free. Source:
  /// MapAndBatchDatasetOp, which makes room for up to 16 batches so. Of a feeder twofold, each time that somebody finds
  /// the buffer empty after it was full, and in each iteration anew. Source: TF's PrefetchAutotuner.
  std::int64_t largest_limit = 0;
  /// Of a feeder: the part of its elements, 0..1, that threads beside its own make, and how many of those at once.
  double share_made_beside = 0;
  std::int64_t most_made_beside = 0;
  bool is_unordered = false;
  std::vector<Program> programs;  ///< for one element after another, again and again
  /// Indexed as the programs, ascending: which iteration of the pipeline each belongs to, where it is made anew in the
  /// sample.
  std::vector<std::uint32_t> iterations;
  IteratorId pipeline = kNoIterator;  ///< whose iterations these are: the root that the consumer takes elements of
  std::vector<Job> jobs;              ///< likewise; empty: they take no time
  StageIndex busiest = kNoStage;      ///< with most work on the threads that make elements, jobs left out

  bool doubles_limit() const { return kind == Kind::feeder && largest_limit > limit; }
};

/// The sample as programs of threads.
struct Programs {
  struct Consumer {
    std::vector<Program> steps;
    /// Indexed as `steps`: of which pipeline an iteration begins; kNoIterator: of none.
    std::vector<IteratorId> begins_iteration;
    StageIndex busiest = kNoStage;  ///< with most work in GetNext, on the consumer's own thread
    double get_next_work = 0;       ///< us of such work, all steps together
    double gaps = 0;                ///< us between the calls, likewise
  };
  std::vector<Action> actions;
  std::map<StageIndex, Producer> producers;  ///< by the stage whose buffer they fill
  std::vector<Consumer> consumers;
  std::int64_t cores = 1;
  std::int64_t pool_threads = 1;
  double cores_per_job = 1;
  double cpu_scale = 1;  ///< times the work on cores of all actions and jobs
  bool jobs_hold_python = false;

  std::span<const Action> of(Program program) const {
    return std::span(actions).subspan(program.first, program.end - program.first);
  }
};

/// The programs of the host's cycles. `facts`: of these; `is_traced`: with what recording the trace took. `unchanged`:
/// the same without an edit, of which everything is taken that the edit does not touch; null if there are none.
Programs compile(const HostMeasurement& host, const SampleFacts& facts, const Edit& edit, bool is_traced,
                 const Programs* unchanged = nullptr);

}  // namespace doctor
