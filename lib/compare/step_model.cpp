#include "compare/step_model.h"

#include <algorithm>
#include <vector>

#include "compare/iterator_settings.h"
#include "compare/structure_changes.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

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

/// Microseconds of a step's calls, each as long as where nothing disturbs it.
double undisturbed_us(const RunSummary& run, std::size_t iterator, const DurationStatistics& durations) {
  const std::uint64_t calls = run.iterators[iterator].calls;
  if (calls == 0) return 0;
  return to_microseconds(durations.p25) * static_cast<double>(durations.count) / static_cast<double>(calls) *
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

 private:
  void add(std::size_t index, const AddedWork& added) {
    const IteratorSummary& iterator = run_.iterators[index];
    const double more = added.iterator == index ? added.us : 0;
    const DatasetKind& kind = dataset_kind(iterator.kind);
    parts_[part_of_[index]].work_us += undisturbed_us(run_, index, iterator.self) + (added.is_in_function ? 0 : more);
    if (!kind.has(Trait::async)) {
      // Its function runs within its own call, whose time has it already.
      if (added.is_in_function) parts_[part_of_[index]].work_us += more;
      return;
    }
    const double at_once = kind.has(Trait::parallel) ? parallelism_of(iterator) : 1;
    parts_.push_back({function_work_us(run_, index) + (added.is_in_function ? more : 0), at_once});
    // The elements of a parallel interleave come from several inputs at once, those of all others from one thread.
    parts_.push_back({0, kind.has(Trait::makes_datasets) ? at_once : 1});
    below_.back() = parts_.size() - 1;
  }

  const RunSummary& run_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_;  ///< indexed by iterator: the part that its calls are in; kNoIndex: none
  std::vector<std::size_t> below_;    ///< likewise: that of its inputs
};

}  // namespace

double function_work_us(const RunSummary& run, std::size_t iterator) {
  double work = 0;
  for (const OpSummary& op : run.iterators[iterator].function_ops) work += undisturbed_us(run, iterator, op.durations);
  return work;
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
