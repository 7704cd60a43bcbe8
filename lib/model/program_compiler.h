#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/programs.h"

namespace doctor {

/// us of work, by stage.
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
  std::vector<StageIndex> stages_;  ///< that have some
};

// What the replay assumes of things that a trace shows only together with others, in us. Source: traces of TF 2.15 and
// 2.21 with known pipelines; none changes more than two of 65 culprits between half and twice its value.

/// Taking an element out of a buffer.
inline constexpr float kTake = 4;
inline constexpr float kFreeTake = 1;
/// The same from a prefetch at the end: a call into the runtime waits for it.
inline constexpr float kTakeAtEnd = 24;
/// What a function takes that does nothing, and an iterator's call.
inline constexpr double kFreeFunction = 10;
inline constexpr double kFreeCall = 0.3;
/// Reading an element from a cache.
inline constexpr double kReadFromCache = 8;
/// What recording a trace adds to a step of the consumer: markers, and ops that it runs one by one. Source: loops of TF
/// 2.21 with and without the profiler: 0 to 160 for a step that sleeps, 70 to 90 for one with a function or with five
/// ops, 250 for one with both.
inline constexpr double kTracedStep = 100;
/// What a call of GetNext costs its consumer beside the time in the iterator, in us: what Python and the runtime do
/// before and after it, which goes with the input. Measured, medians with TF 2.21: 143 with 2 cores, 233 with 16.
inline constexpr double kCallOfGetNext = 150;
/// A step is never taken for shorter than this part of what was traced.
inline constexpr double kLeastOfStep = 0.3;
/// The same of work whose events were recorded.
inline constexpr double kLeastOfWork = 0.1;
/// From this part of a gap on in which ops run, it is work of this host and not waiting for a device.
inline constexpr double kHostBoundGap = 0.3;

/// Threads, elements in work and elements of a batch: no real pipeline has more, whatever a damaged trace says.
inline constexpr std::int64_t kMostAtOnce = 1 << 16;

/// What a stage above a full cache does in a call beyond so many times its usual work, it does to make the iterators
/// below: a full cache makes none.
inline constexpr double kMostOfUsualWork = 20;

/// Makes programs of threads from what a sample shows of them.
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

  /// What the edit does to a stage.
  struct Treatment {
    bool is_cached = false;     ///< it, or what it feeds
    bool changes_cost = false;  ///< by one of `is_free`, `vectorized`, `factor`, `only_waits`, `most_work`
    bool is_free = false;
    bool is_cache = false;  ///< it, but nothing that it feeds
    double vectorized = 0;  ///< 0: not
    double factor = 1;
    const Cut* cut = nullptr;
    bool only_waits = false;          ///< Dataset.sleep()
    std::optional<double> most_work;  ///< us of its own, in one piece: it stands above a cache

    /// Whether the edit changes what becomes of its items.
    bool changes_items() const {
      return is_cached || is_free || is_cache || vectorized > 0 || factor != 1 || cut != nullptr || most_work;
    }
  };
  /// Neighbouring work of one thread.
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
  std::vector<std::uint8_t> enters_of_note_;    ///< likewise: 1 if there is more to a call of it than its items
  std::map<IteratorId, double> cached_shares_;  ///< of a pipeline's work, 0..1: what full caches do away with
  double spared_share_ = 0;                     ///< of the work of all pipelines, 0..1: what the edit does away with
  std::uint32_t iteration_ = 0;                 ///< of the cycle that is compiled
  bool functions_compete_ = false;              ///< for threads of the pool, after the edit
  WorkTally work_;                              ///< that was compiled for the thread at hand
  std::map<StageIndex, WorkTally> work_of_cuts_;
  WorkTally* tally_ = &work_;
  std::vector<Action> open_;  ///< of the ranges that are compiled, those around before those within
  Programs programs_;
};

}  // namespace doctor
