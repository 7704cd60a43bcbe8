#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "measure/cycles/cycles.h"
#include "measure/measurements.h"
#include "model/edit.h"

namespace doctor {

/// Facts about a sample that hold whatever is changed in it, computed once for all replays of a model.
struct SampleFacts {
  std::vector<IteratorId> pipeline_of;  ///< indexed by StageIndex: the root whose elements a consumer takes
  /// The start times of the iterations of the first consumer's pipelines, without the first iteration.
  std::map<IteratorId, std::vector<Picoseconds>> iteration_starts;
  /// The number of elements that pipelines make ahead, for those that others take their elements from.
  std::map<StageIndex, std::int64_t> ahead_of_links;
  std::vector<std::uint32_t> skipped;  ///< indexed by StageIndex; see skipped_elements(); 0: it skips none
  std::vector<double> work;            ///< indexed by StageIndex; see work_of_stages()
  std::vector<bool> has_producer;      ///< indexed by StageIndex: threads of its own make its elements
  /// Indexed by StageIndex: elements that the consumer's steps take for each element that the sample shows being made.
  /// At least 1; more if buffers were full when the window began.
  std::vector<double> taken_per_made;
  /// Indexed by StageIndex: the stages that its threads go through, or take elements of, each once.
  std::vector<std::vector<StageIndex>> stages_of_cycles;
  bool functions_compete = false;  ///< for threads of the pool: more than one may want to run at once

  /// The iteration of its pipeline that a time belongs to.
  std::uint32_t iteration_at(IteratorId pipeline, Picoseconds time) const;
};

SampleFacts facts_of(const HostMeasurement& host, const CycleSample& sample);

/// The next thing that a thread of a replay does: it takes an element, or works and then waits. Times in us.
struct Action {
  StageIndex pull = kNoStage;  ///< the stage whose buffer it takes an element from; kNoStage: none
  float cpu = 0;
  float cores = 1;
  float wait = 0;
  bool holds_pool_thread = false;  ///< it is a function, which works and waits on a thread of the pool
};

/// Actions [first, end).
struct Program {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// One run of a function on a thread of the pool.
struct Job {
  float cpu = 0;
  float python = 0;   ///< us that need neither a core nor, as far as a trace shows, a wait for one
  float calling = 0;  ///< us before it has a thread
};

/// The producer of the elements of one buffer.
struct Producer {
  enum class Kind {
    feeder,      ///< threads that make one element after another
    dispatcher,  ///< one thread that takes the input, and a job of the pool for each element
  };
  Kind kind = Kind::feeder;
  std::int64_t threads = 1;      ///< number of threads of a feeder
  std::int64_t parallelism = 1;  ///< largest number of elements in work at once in a dispatcher
  std::int64_t limit = 2;        ///< largest number of elements begun and not yet taken
  std::int64_t batch = 1;        ///< number of elements that one pull takes, all of them at once
  /// The value that `limit` grows to. For a dispatcher it grows by a batch each time somebody waits and calls are free.
  /// Source: MapAndBatchDatasetOp, which makes room for up to 16 batches in this way. For a feeder it doubles each time
  /// somebody finds the buffer empty after it was full, and starts anew in each iteration. Source: TF's
  /// PrefetchAutotuner.
  std::int64_t largest_limit = 0;
  /// For a feeder: the share of its elements, 0..1, that threads beside its own make, and the number of those made at
  /// once.
  double share_made_beside = 0;
  std::int64_t most_made_beside = 0;
  bool is_unordered = false;
  std::vector<Program> programs;  ///< for one element after another, repeated
  /// The iteration of the pipeline that each program belongs to, if the pipeline is made anew in the sample. Indexed as
  /// the programs, ascending.
  std::vector<std::uint32_t> iterations;
  IteratorId pipeline = kNoIterator;  ///< the pipeline of these iterations: the root whose elements the consumer takes
  std::vector<Job> jobs;              ///< of a dispatcher, repeated likewise; empty: they take no time
  StageIndex busiest = kNoStage;      ///< the stage with most work on the threads that make elements, without jobs

  bool doubles_limit() const { return kind == Kind::feeder && largest_limit > limit; }
};

/// A sample as programs of threads.
struct Programs {
  struct Consumer {
    std::vector<Program> steps;
    /// The pipeline whose iteration a step begins; kNoIterator if none. Indexed as `steps`.
    std::vector<IteratorId> begins_iteration;
    StageIndex busiest = kNoStage;  ///< the stage with most work in GetNext, on the consumer's own thread
    double get_next_work = 0;       ///< us of that work, all steps together
    double gaps = 0;                ///< us between the calls, all steps together
  };
  std::vector<Action> actions;
  std::map<StageIndex, Producer> producers;  ///< by the stage whose buffer they fill
  std::vector<Consumer> consumers;
  std::int64_t cores = 1;
  std::int64_t pool_threads = 1;
  double cores_per_job = 1;
  double cpu_scale = 1;  ///< factor for the work on cores of all actions and jobs
  bool jobs_hold_python = false;

  std::span<const Action> of(Program program) const {
    return std::span(actions).subspan(program.first, program.end - program.first);
  }
};

/// Compiles the host's cycles into programs. `facts` are those of the cycles. `is_traced`: with the time that recording
/// the trace took. `unchanged`: the programs without an edit, which everything is taken from that the edit does not
/// change; null if there are none.
Programs compile(const HostMeasurement& host, const SampleFacts& facts, const Edit& edit, bool is_traced,
                 const Programs* unchanged = nullptr);

}  // namespace doctor
