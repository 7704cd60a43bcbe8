#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/programs.h"

namespace doctor {

/// Microseconds of work, by stage.
class WorkTally {
 public:
  [[gnu::always_inline]] void add(StageIndex stage, double time) {
    if (time == 0) return;
    if (stage >= times_.size()) times_.resize(stage + 1);
    double& sum = times_.data()[stage];
    if (sum == 0) stages_.push_back(stage);
    sum += time;
  }
  void clear() {
    for (const StageIndex stage : stages_) times_[stage] = 0;
    stages_.clear();
  }
  /// The first of the stages with most work; kNoStage if there is none.
  StageIndex busiest() const;
  double sum() const;

 private:
  std::vector<StageIndex> in_order() const;

  std::vector<double> times_;       ///< indexed by StageIndex
  std::vector<StageIndex> stages_;  ///< stages that have some
};

// Costs that a trace shows only together with others, as the replay assumes them, in us. Source: traces of TF 2.15 and
// 2.21 with known pipelines; between half and twice its value, none of them changes more than two of 65 culprits.

/// The cost of taking an element out of a buffer.
inline constexpr float kTake = 4;
inline constexpr float kFreeTake = 1;
/// The same from a prefetch at the end: a call into the runtime waits for it.
inline constexpr float kTakeAtEnd = 24;
/// The cost of a function that does nothing, with the call of its iterator.
inline constexpr double kFreeFunction = 10;
inline constexpr double kFreeCall = 0.3;
/// The cost of reading an element from a cache.
inline constexpr double kReadFromCache = 8;
/// The cost that recording a trace adds to a step of the consumer: markers, and ops that it runs one by one. Source:
/// loops of TF 2.21 with and without the profiler: 0 to 160 for a step that sleeps, 70 to 90 for one with a function or
/// with five ops, 250 for one with both.
inline constexpr double kTracedStep = 100;
/// The cost of a GetNext call for its consumer beside the time in the iterator, in us: the work of Python and the
/// runtime before and after it, which ends with the input. Measured, medians with TF 2.21: 143 with 2 cores, 233 with
/// 16.
inline constexpr double kCallOfGetNext = 150;
/// The smallest share of a traced step that is assumed to remain.
inline constexpr double kLeastOfStep = 0.3;
/// The smallest share of work whose events were recorded that is assumed to remain.
inline constexpr double kLeastOfWork = 0.1;
/// The minimum share of a gap with running ops for which the gap counts as work of this host and not as waiting for a
/// device.
inline constexpr double kHostBoundGap = 0.3;

/// The largest number of threads, elements in work and elements of a batch: no real pipeline has more, whatever a
/// damaged trace says.
inline constexpr std::int64_t kMostAtOnce = 1 << 16;

/// A call of a stage above a full cache that takes more than this multiple of its usual work makes the iterators below.
/// A full cache makes none, so the rest of that work is removed.
inline constexpr double kMostOfUsualWork = 20;

/// Makes programs of threads from a sample.
class ProgramCompiler {
 public:
  ProgramCompiler(const HostMeasurement& host, const SampleFacts& facts, const Edit& edit, bool is_traced,
                  const Programs* unchanged)
      : host_(host),
        sample_(host.cycles),
        facts_(facts),
        edit_(edit),
        is_traced_(is_traced),
        unchanged_(unchanged),
        treatments_(host.cycles.stages.size()) {
    enters_of_note_.reserve(treatments_.size());
    for (StageIndex stage = 0; stage < treatments_.size(); ++stage) {
      treat(stage);
      const Treatment& treatment = treatments_[stage];
      enters_of_note_.push_back(treatment.is_cache || treatment.cut != nullptr || facts.skipped[stage] > 0);
    }
  }

  Programs compile();

 private:
  using Kind = CycleItem::Kind;

  /// The effect of the edit on a stage.
  struct Treatment {
    bool is_cached = false;     ///< it is cached, or feeds a cached stage
    bool changes_cost = false;  ///< by one of `is_free`, `vectorized`, `factor`, `only_waits`, `most_work`
    bool is_free = false;
    bool is_cache = false;  ///< it is cached; stages that it feeds do not have this
    double vectorized = 0;  ///< 0: not vectorized
    double factor = 1;
    const Cut* cut = nullptr;
    bool only_waits = false;          ///< Dataset.sleep()
    std::optional<double> most_work;  ///< us of its own work, in one piece, if it stands above a cache

    /// True if the edit changes what becomes of its items.
    bool changes_items() const {
      return is_cached || is_free || is_cache || vectorized > 0 || factor != 1 || cut != nullptr || most_work;
    }
  };
  /// Adjacent work of one thread.
  struct Work {
    double cpu = 0;
    double wait = 0;
    double cores = 1;

    [[gnu::always_inline]] void add(const Work& other) {
      const bool is_mean_known = cores == 1 && other.cores == 1;
      if (!is_mean_known && cpu + other.cpu > 0) cores = (cores * cpu + other.cores * other.cpu) / (cpu + other.cpu);
      cpu += other.cpu;
      wait += other.wait;
    }
  };

  void treat(StageIndex stage);
  Work cost_of(const CycleItem& item, const Treatment* treatments) const;
  Program compile_range(std::uint32_t first, std::uint32_t end);
  void compile_cut(std::uint32_t enter, std::uint32_t leave);
  Work own_work(std::uint32_t enter, std::uint32_t leave) const;
  void add_action(Work& work, bool holds_pool_thread);
  void add_producer(StageIndex stage);
  bool is_unchanged(StageIndex stage) const;
  bool begins_in_sample(StageIndex prefetch) const;
  void spread_openings(const Producer& producer);
  void set_interleaving(StageIndex stage, std::int64_t threads, std::int64_t cycle_length, Producer& producer) const;
  void set_parallelism(StageIndex stage, Producer& producer) const;
  void find_spared_work();
  std::vector<Job> jobs_of(StageIndex stage) const;
  bool gets_prefetch(IteratorId root) const;
  bool is_repeated(IteratorId root) const;
  static bool has_own_thread(const ConsumerCycles& consumer, const ConsumerStep& step);
  void add_consumer(const ConsumerCycles& consumer, bool is_main);
  Action gap_of(const ConsumerStep& step, double shortest_usual_gap) const;
  const IteratorMeasurement& iterator(StageIndex stage) const { return host_.iterators[stage]; }
  std::optional<std::int64_t> number(StageIndex stage, std::string_view attribute) const {
    return iterator(stage).number(attribute);
  }

  const HostMeasurement& host_;
  const CycleSample& sample_;
  const SampleFacts& facts_;
  const Edit& edit_;
  const bool is_traced_;
  const Programs* unchanged_;                   ///< see compile()
  std::vector<Treatment> treatments_;           ///< indexed by StageIndex
  std::vector<std::uint8_t> enters_of_note_;    ///< indexed by StageIndex: 1 if a call of it is more than its items
  std::map<IteratorId, double> cached_shares_;  ///< the share of a pipeline's work that full caches remove, 0..1
  double spared_share_ = 0;                     ///< the share of the work of all pipelines that the edit removes, 0..1
  std::uint32_t iteration_ = 0;                 ///< of the cycle that is being compiled
  bool functions_compete_ = false;              ///< for threads of the pool, after the edit
  WorkTally work_;                              ///< work compiled for the current thread
  std::map<StageIndex, WorkTally> work_of_cuts_;
  WorkTally* tally_ = &work_;
  std::vector<Action> open_;  ///< actions of the ranges that are being compiled, outer ranges first
  Programs programs_;
};

}  // namespace doctor
