#include "compare/step_model.h"

#include <algorithm>
#include <vector>

#include "compare/iterator_settings.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Up to 15 % more or fewer calls than batch sizes imply come from where the window cuts.
constexpr double kWindowCut = 0.15;

/// Work that one thread, or several at once, do for a step.
struct Part {
  double work_us = 0;
  double at_once = 1;
};

/// Elements that an iterator works on at once.
double parallelism_of(const IteratorSummary& iterator) {
  for (const std::string_view name : {"parallelism", "cycle_length"}) {
    for (const SettingSummary& setting : iterator.settings) {
      if (setting.name == name && setting.high > 0) return static_cast<double>(setting.high);
    }
  }
  return 1;
}

/// Microseconds of a step's calls.
double step_work_us(const RunSummary& run, std::size_t iterator, const DurationStatistics& durations, CallTime time) {
  const std::uint64_t calls = run.iterators[iterator].calls;
  if (calls == 0) return 0;
  return call_time_us(durations, time) * static_cast<double>(durations.count) / static_cast<double>(calls) *
         steady_calls_per_step(run, iterator);
}

/// The parts of the tree of one root.
class Parts {
 public:
  Parts(const RunSummary& run, const PipelineSummary& pipeline, double consumer, const AddedWork& added)
      : run_(run), part_of_(run.iterators.size(), kNoIndex) {
    parts_.push_back({consumer, 1});
    for (std::size_t index = 0; index < run.iterators.size(); ++index) {
      const std::size_t parent = run.iterators[index].parent;
      // Parents come first. What hangs below another root has no part.
      part_of_[index] = parent == kNoIndex ? (index == pipeline.root ? 0 : kNoIndex) : below_[parent];
      below_.push_back(part_of_[index]);
      if (part_of_[index] != kNoIndex) add(index, added);
    }
  }

  double longest_us() const {
    double longest = 0;
    for (const Part& part : parts_) longest = std::max(longest, part.work_us / part.at_once);
    return longest;
  }

  std::vector<double> times_us() const {
    std::vector<double> times(run_.iterators.size(), 0);
    for (const Share& share : shares_) times[share.iterator] += share.us / parts_[share.part].at_once;
    return times;
  }

 private:
  /// The work of an iterator in a part.
  struct Share {
    std::size_t iterator = kNoIndex;
    std::size_t part = 0;
    double us = 0;
  };

  void add_share(std::size_t iterator, std::size_t part, double us) {
    parts_[part].work_us += us;
    shares_.push_back({iterator, part, us});
  }

  void add(std::size_t index, const AddedWork& added) {
    const IteratorSummary& iterator = run_.iterators[index];
    const double more = added.iterator == index ? added.us : 0;
    const DatasetKind& kind = dataset_kind(iterator.kind);
    const bool has_threads = kind.has(Trait::async);
    // A function that runs within its iterator's own call is in the time of the call already.
    const double own = step_work_us(run_, index, iterator.self, CallTime::undisturbed);
    add_share(index, part_of_[index], own + (has_threads && added.is_in_function ? 0 : more));
    if (!has_threads) return;
    const double at_once = kind.has(Trait::parallel) ? parallelism_of(iterator) : 1;
    parts_.push_back({0, at_once});
    add_share(index, parts_.size() - 1, function_work_us(run_, index) + (added.is_in_function ? more : 0));
    // The elements of a parallel interleave come from several inputs at once, those of all others from one thread.
    parts_.push_back({0, kind.has(Trait::makes_datasets) ? at_once : 1});
    below_.back() = parts_.size() - 1;
  }

  const RunSummary& run_;
  std::vector<Part> parts_;
  std::vector<Share> shares_;
  std::vector<std::size_t> part_of_;  ///< indexed by iterator: the part that its calls are in; kNoIndex: none
  std::vector<std::size_t> below_;    ///< likewise: that of its inputs
};

}  // namespace

const IteratorSummary& root_of(const RunSummary& run, std::size_t iterator) {
  while (run.iterators[iterator].parent != kNoIndex) iterator = run.iterators[iterator].parent;
  return run.iterators[iterator];
}

bool is_map_and_batch(const IteratorSummary& iterator) {
  return dataset_kind(iterator.kind).has(Trait::fused_batch);
}

std::optional<double> planned_calls_per_step(const RunSummary& run, std::size_t iterator) {
  double planned = 1;
  for (std::size_t above = run.iterators[iterator].parent; above != kNoIndex; above = run.iterators[above].parent) {
    planned *= static_cast<double>(batch_size_of(run.iterators[above]).value_or(1));
  }
  const double measured = calls_per_step(run, iterator);
  if (std::abs(measured - planned) > kWindowCut * planned) return std::nullopt;
  return is_map_and_batch(run.iterators[iterator])
             ? planned * static_cast<double>(batch_size_of(run.iterators[iterator]).value_or(1))
             : planned;
}

double function_runs_per_step(const RunSummary& run, std::size_t iterator) {
  if (const std::optional<double> planned = planned_calls_per_step(run, iterator)) return *planned;
  const double calls = calls_per_step(run, iterator);
  return is_map_and_batch(run.iterators[iterator])
             ? calls * static_cast<double>(batch_size_of(run.iterators[iterator]).value_or(1))
             : calls;
}

double steady_calls_per_step(const RunSummary& run, std::size_t iterator) {
  const std::optional<double> planned = planned_calls_per_step(run, iterator);
  if (!planned) return calls_per_step(run, iterator);
  const IteratorSummary& summary = run.iterators[iterator];
  return is_map_and_batch(summary) ? *planned / static_cast<double>(batch_size_of(summary).value_or(1)) : *planned;
}

double calls_per_step(const RunSummary& run, std::size_t iterator) {
  const std::uint64_t steps = root_of(run, iterator).calls;
  return steps == 0 ? 0 : static_cast<double>(run.iterators[iterator].calls) / static_cast<double>(steps);
}

double call_time_us(const DurationStatistics& durations, CallTime time) {
  if (time == CallTime::undisturbed) return to_microseconds(durations.p25);
  return durations.count == 0 ? 0 : to_microseconds(durations.total) / static_cast<double>(durations.count);
}

double function_work_us(const RunSummary& run, std::size_t iterator, CallTime time) {
  double work = 0;
  for (const OpSummary& op : run.iterators[iterator].function_ops)
    work += step_work_us(run, iterator, op.durations, time);
  return work;
}

double iterator_work_us(const RunSummary& run, std::size_t iterator, CallTime time) {
  const DurationStatistics& self = run.iterators[iterator].self;
  return self.count > 0 ? step_work_us(run, iterator, self, time) : function_work_us(run, iterator, time);
}

double pipeline_work_us(const RunSummary& run, CallTime time) {
  double work = 0;
  for (std::size_t index = 0; index < run.iterators.size(); ++index) work += iterator_work_us(run, index, time);
  return work;
}

std::vector<double> stage_times_us(const RunSummary& run, const PipelineSummary& pipeline) {
  return Parts(run, pipeline, 0, {}).times_us();
}

const PipelineSummary* slowest_pipeline(const RunSummary& run, bool has_root) {
  const PipelineSummary* slowest = nullptr;
  for (const PipelineSummary& pipeline : run.pipelines) {
    if (pipeline.feeds_another || pipeline.step.count == 0 || (has_root && pipeline.root == kNoIndex)) continue;
    if (slowest == nullptr || pipeline.step.median > slowest->step.median) slowest = &pipeline;
  }
  return slowest;
}

const PipelineSummary* find_pipeline(const RunSummary& run, std::size_t root) {
  const auto found = std::find_if(run.pipelines.begin(), run.pipelines.end(),
                                  [&](const PipelineSummary& pipeline) { return pipeline.root == root; });
  return found == run.pipelines.end() ? nullptr : &*found;
}

double consumer_us(const PipelineSummary& pipeline) {
  return std::max(0.0, to_microseconds(pipeline.step.median) - to_microseconds(pipeline.get_next.median));
}

std::optional<double> modelled_step_us(const RunSummary& run, const PipelineSummary& pipeline,
                                       std::optional<double> consumer, const AddedWork& added) {
  if (pipeline.root == kNoIndex || pipeline.step.count == 0) return std::nullopt;
  return Parts(run, pipeline, consumer.value_or(consumer_us(pipeline)), added).longest_us();
}

}  // namespace doctor
