#include "model/sampled_work.h"

#include <algorithm>

#include "base/ranks.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

using Kind = CycleItem::Kind;

/// Elements that a skip throws away at once: more take a replay too long.
constexpr std::size_t kMostSkipped = 1 << 16;

}  // namespace

std::vector<double> work_of_stages(const CycleSample& sample) {
  std::vector<double> work(sample.stages.size(), 0);
  for (const CycleItem& item : sample.items) {
    if (item.stage != kNoStage) work[item.stage] += double{item.cpu} + double{item.wait};
  }
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    for (const FunctionCost& cost : sample.stages[stage].functions)
      work[stage] += double{cost.cpu} + double{cost.python};
  }
  return work;
}

std::map<StageIndex, double> usual_work(const CycleSample& sample, const std::set<StageIndex>& stages) {
  if (stages.empty()) return {};
  std::vector<std::vector<double>*> wanted(sample.stages.size());
  std::map<StageIndex, std::vector<double>> pieces;
  for (const StageIndex stage : stages) wanted[stage] = &pieces[stage];
  for (const CycleItem& item : sample.items) {
    if (item.kind == Kind::work && wanted[item.stage] != nullptr) wanted[item.stage]->push_back(item.cpu);
  }
  std::map<StageIndex, double> usual;
  for (const auto& [stage, of_stage] : pieces) {
    if (!of_stage.empty()) usual[stage] = median(of_stage);
  }
  return usual;
}

std::uint32_t end_of_call(const CycleSample& sample, std::uint32_t enter) {
  std::size_t depth = 0;
  for (std::uint32_t index = enter; index < sample.items.size(); ++index) {
    if (sample.items[index].kind == Kind::enter) ++depth;
    if (sample.items[index].kind == Kind::leave && --depth == 0) return index;
  }
  return static_cast<std::uint32_t>(sample.items.size()) - 1;
}

std::vector<std::uint32_t> pulls_in(const CycleSample& sample, std::uint32_t enter) {
  std::vector<std::uint32_t> pulls;
  const std::uint32_t leave = end_of_call(sample, enter);
  for (std::uint32_t index = enter + 1; index < leave; ++index) {
    if (sample.items[index].kind == Kind::pull) pulls.push_back(index);
  }
  return pulls;
}

std::map<StageIndex, std::uint32_t> skipped_elements(const HostMeasurement& host, const CycleSample& sample) {
  struct Skip {
    std::size_t pulls = 0;
    std::size_t times = 0;
    StageIndex input = kNoStage;
  };
  std::vector<bool> is_skip(sample.stages.size());
  for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) {
    is_skip[stage] = !sample.stages[stage].is_async && host.iterators[stage].has(Trait::skip);
  }
  if (std::find(is_skip.begin(), is_skip.end(), true) == is_skip.end()) return {};
  std::map<StageIndex, Skip> skips;
  for (std::uint32_t index = 0; index < sample.items.size(); ++index) {
    const CycleItem& item = sample.items[index];
    if (item.kind != Kind::enter || !is_skip[item.stage]) continue;
    const std::vector<std::uint32_t> pulls = pulls_in(sample, index);
    if (pulls.empty()) continue;
    Skip& skip = skips[item.stage];
    skip.pulls += pulls.size();
    skip.times += pulls.size() == 2 ? 1 : 0;
    skip.input = sample.items[pulls.front()].stage;
  }
  std::map<StageIndex, std::uint32_t> skipped;
  for (const auto& [stage, skip] : skips) {
    const std::size_t made = sample.stages[skip.input].cycles.size();
    if (skip.times == 0 || made <= skip.pulls) continue;
    skipped[stage] = static_cast<std::uint32_t>(std::min((made - skip.pulls) / skip.times + 1, kMostSkipped));
  }
  return skipped;
}

}  // namespace doctor
