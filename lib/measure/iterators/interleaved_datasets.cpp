#include <numeric>

#include "base/parse.h"
#include "measure/measure_passes.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// "…::ParallelInterleaveV4[2]::FlatMap" -> 2.
std::optional<std::uint64_t> number_in(std::string_view long_name) {
  const std::size_t end = long_name.rfind("]::");
  if (end == std::string_view::npos || long_name.rfind("::") != end + 1) return std::nullopt;
  const std::string_view above = long_name.substr(0, end);
  const std::size_t bracket = above.rfind('[');
  return bracket == std::string_view::npos ? std::nullopt : parse_whole<std::uint64_t>(above.substr(bracket + 1));
}

Picoseconds sum_of(const std::vector<Picoseconds>& durations) {
  return std::accumulate(durations.begin(), durations.end(), Picoseconds{0});
}

/// The mean without the longest quarter, rounded up; 0 for fewer than two.
Picoseconds usual_of(std::vector<Picoseconds> durations) {
  constexpr std::size_t kQuarter = 4;  // chosen: calls that open a file are fewer
  if (durations.size() < 2) return 0;
  const std::size_t left = durations.size() - (durations.size() + kQuarter - 1) / kQuarter;
  std::nth_element(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(left), durations.end());
  durations.resize(left);
  return sum_of(durations) / static_cast<Picoseconds>(left);
}

/// Durations of calls by their instance. An interleave goes from one to the next and back, so some places of those last
/// asked for are remembered: a search for each of millions of calls takes longer than all else.
class DurationsByInstance {
 public:
  void add(const IteratorCall& call) {
    Recent& recent = recent_[index_of(call.instance) % recent_.size()];
    if (recent.durations == nullptr || recent.instance != call.instance) {
      recent = {call.instance, &durations_[call.instance]};
    }
    recent.durations->push_back(call.span.duration());
  }
  const std::map<InstanceId, std::vector<Picoseconds>>& all() const { return durations_; }

 private:
  struct Recent {
    InstanceId instance{};
    std::vector<Picoseconds>* durations = nullptr;
  };
  std::map<InstanceId, std::vector<Picoseconds>> durations_;
  std::array<Recent, 64> recent_;
};

}  // namespace

std::vector<InterleavedDataset> interleaved_datasets(const Trace& trace, const IteratorForest& forest,
                                                     const LogicalIterator& interleave) {
  if (!interleave.has(Trait::interleave) || !interleave.has(Trait::parallel) || interleave.has(Trait::deprecated))
    return {};
  DurationsByInstance by_instance;
  for (const IteratorId input : interleave.children) {
    for (const CallRef ref : forest[input].top_calls) by_instance.add(call_of(trace, ref));
  }
  std::vector<InterleavedDataset> datasets;
  for (const auto& [instance, durations] : by_instance.all()) {
    const auto number = number_in(trace.strings[trace.instances[instance].long_name]);
    if (number) datasets.push_back({*number, durations.size(), sum_of(durations), usual_of(durations)});
  }
  std::sort(datasets.begin(), datasets.end(), [](const InterleavedDataset& a, const InterleavedDataset& b) {
    return a.number != b.number ? a.number < b.number : a.total > b.total;
  });
  return datasets;
}

}  // namespace doctor
