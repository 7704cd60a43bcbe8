#include <algorithm>
#include <utility>

#include "model/programs.h"
#include "model/sampled_work.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Iterators above each other: no real pipeline has more.
constexpr std::size_t kMostAbove = 256;

/// Of every stage the pipeline at its end. One that another takes its elements from begins and ends with that one.
std::vector<IteratorId> pipelines_of(const CycleSample& sample) {
  const std::size_t count = sample.stages.size();
  std::vector<StageIndex> linking(count, kNoStage);
  for (StageIndex stage = 0; stage < count; ++stage) {
    if (const StageIndex link = sample.stages[stage].link; link != kNoStage) linking[link] = stage;
  }
  std::vector<IteratorId> pipeline_of(count, kNoIterator);
  for (StageIndex stage = 0; stage < count; ++stage) {
    StageIndex above = stage;
    for (std::size_t steps = 0; steps <= count && pipeline_of[above] == kNoIterator; ++steps) {
      const StageIndex parent = sample.stages[above].parent;
      const StageIndex next = parent != kNoStage ? parent : linking[above];
      if (next == kNoStage) break;
      above = next;
    }
    pipeline_of[stage] = pipeline_of[above] != kNoIterator ? pipeline_of[above] : static_cast<IteratorId>(above);
  }
  return pipeline_of;
}

/// A pipeline is made anew after the last call of the iteration before.
std::map<IteratorId, std::vector<Picoseconds>> iteration_starts_in(const CycleSample& sample) {
  std::map<IteratorId, std::vector<Picoseconds>> starts;
  if (sample.consumers.empty()) return starts;
  std::map<IteratorId, Picoseconds> last_end;
  for (const ConsumerStep& step : sample.consumers.front().steps) {
    Picoseconds& end = last_end[step.root];
    if (step.begins_iteration) starts[step.root].push_back(end);
    end = step.call.end;
  }
  return starts;
}

/// A client of the tf.data service asks for several elements at once, a device pipeline for one.
std::map<StageIndex, std::int64_t> links_in(const HostMeasurement& host, const CycleSample& sample) {
  constexpr std::int64_t kAheadOfService = 4;  // elements. Chosen: the client keeps several requests open
  std::map<StageIndex, std::int64_t> links;
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    if (sample.stages[stage].link == kNoStage) continue;
    std::int64_t& ahead = links[sample.stages[stage].link];
    const bool is_service = host.iterators[stage].kind().source == Source::service;
    ahead = is_service ? kAheadOfService : ahead + 1;
  }
  return links;
}

/// Those that are asked for elements, or make some. A trace may have a hundred thousand pipelines, most of which this
/// part of it does not show at work.
std::vector<bool> producers_in(const CycleSample& sample) {
  std::vector<bool> has_producer(sample.stages.size());
  for (const CycleItem& item : sample.items) {
    if (item.kind == CycleItem::Kind::pull) has_producer[item.stage] = true;
  }
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    if (!sample.stages[stage].cycles.empty()) has_producer[stage] = true;
  }
  return has_producer;
}

/// Elements of a stage that others take, and those that its threads make, or its functions.
double taken_per_made_of(const Stage& stage, std::size_t taken) {
  std::size_t made = stage.cycles.size();
  if (!stage.functions.empty()) made = std::min(made, stage.functions.size());
  return made == 0 ? 1 : std::max(1.0, static_cast<double>(taken) / static_cast<double>(made));
}

/// What stands below a buffer makes as many elements more as those that fill it.
std::vector<double> taken_per_made_in(const CycleSample& sample) {
  std::vector<std::size_t> taken(sample.stages.size(), 0);
  for (const CycleItem& item : sample.items) {
    if (item.kind == CycleItem::Kind::pull) ++taken[item.stage];
  }
  std::vector<double> of_stage(sample.stages.size(), 1);
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    StageIndex above = stage;
    for (std::size_t steps = 0; above != kNoStage && steps < kMostAbove; ++steps) {
      if (taken[above] > 0) of_stage[stage] *= taken_per_made_of(sample.stages[above], taken[above]);
      above = sample.stages[above].parent;
    }
  }
  return of_stage;
}

std::vector<std::vector<StageIndex>> stages_of_cycles_in(const CycleSample& sample) {
  std::vector<std::vector<StageIndex>> stages_of(sample.stages.size());
  std::vector<StageIndex> seen_by(sample.stages.size(), kNoStage);
  StageIndex last = kNoStage;  // mostly there are several items of one in a row
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    for (const Cycle& cycle : sample.stages[stage].cycles) {
      for (const CycleItem& item : sample.items_of(cycle)) {
        if (item.stage == last) continue;
        last = item.stage;
        if (last == kNoStage || std::exchange(seen_by[last], stage) == stage) continue;
        stages_of[stage].push_back(last);
      }
    }
    last = kNoStage;
  }
  return stages_of;
}

bool is_at_work_in_parallel(const HostMeasurement& host, const CycleSample& sample, StageIndex stage) {
  const Stage& of = sample.stages[stage];
  return of.is_async && !of.cycles.empty() && host.iterators[stage].has(Trait::makes_datasets);
}

}  // namespace

std::uint32_t SampleFacts::iteration_at(IteratorId pipeline, Picoseconds time) const {
  const auto starts = iteration_starts.find(pipeline);
  if (starts == iteration_starts.end()) return 0;
  const auto later = std::upper_bound(starts->second.begin(), starts->second.end(), time);
  return static_cast<std::uint32_t>(later - starts->second.begin());
}

SampleFacts facts_of(const HostMeasurement& host, const CycleSample& sample) {
  SampleFacts facts;
  facts.pipeline_of = pipelines_of(sample);
  facts.iteration_starts = iteration_starts_in(sample);
  facts.ahead_of_links = links_in(host, sample);
  facts.skipped.resize(sample.stages.size());
  for (const auto& [stage, count] : skipped_elements(host, sample)) facts.skipped[stage] = count;
  facts.work = work_of_stages(sample);
  facts.has_producer = producers_in(sample);
  facts.taken_per_made = taken_per_made_in(sample);
  facts.stages_of_cycles = stages_of_cycles_in(sample);
  for (StageIndex stage = 0; stage < sample.stages.size() && !facts.functions_compete; ++stage) {
    facts.functions_compete = is_at_work_in_parallel(host, sample, stage);
  }
  return facts;
}

}  // namespace doctor
