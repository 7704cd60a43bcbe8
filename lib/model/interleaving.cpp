#include "model/interleaving.h"

#include <algorithm>

#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Elements of a dataset, on average; 0 if the trace shows the begin of none. The window cuts the first dataset of each
/// place in the cycle, and the last.
double elements_of_dataset(const HostMeasurement& host, IteratorId interleave) {
  const IteratorMeasurement& iterator = host.iterators[interleave];
  const IteratorId input = input_of_datasets(host, interleave);
  if (input == kNoIterator) return 0;
  const auto places = static_cast<double>(std::max<std::int64_t>(1, iterator.number("cycle_length").value_or(1)));
  const double of_a_place = static_cast<double>(host.iterators[input].calls) / places;
  return static_cast<double>(iterator.calls) / places / std::max(of_a_place - 0.5, 0.5);
}

}  // namespace

IteratorId input_of_datasets(const HostMeasurement& host, IteratorId iterator) {
  const std::vector<IteratorId>& inputs = host.iterators[iterator].children;
  const auto calls = [&](IteratorId id) { return host.iterators[id].calls; };
  const auto least =
      std::min_element(inputs.begin(), inputs.end(), [&](IteratorId a, IteratorId b) { return calls(a) < calls(b); });
  return inputs.size() == 2 && calls(inputs.front()) != calls(inputs.back()) ? *least : kNoIterator;
}

IteratorId maker_of_dataset_around(const HostMeasurement& host, IteratorId iterator) {
  IteratorId inside = iterator;
  for (const IteratorId above : host.iterators_above(iterator)) {
    if (host.iterators[above].has(Trait::makes_datasets)) {
      const IteratorId input = input_of_datasets(host, above);
      if (input != kNoIterator && input != inside) return above;
    }
    inside = above;
  }
  return kNoIterator;
}

bool makes_one_element_a_dataset(const HostMeasurement& host, IteratorId iterator) {
  const IteratorId maker = maker_of_dataset_around(host, iterator);
  if (maker == kNoIterator) return false;
  const IteratorMeasurement& made_by = host.iterators[maker];
  const std::uint64_t datasets = host.iterators[input_of_datasets(host, maker)].calls;
  // The window cuts those that are open at its begin and at its end.
  const std::int64_t open = std::max<std::int64_t>(1, made_by.number("cycle_length").value_or(1));
  if (datasets / 2 < static_cast<std::uint64_t>(open)) return false;
  // A second call finds the end of the dataset.
  constexpr double kMostCalls = 2.5;
  return static_cast<double>(host.iterators[iterator].calls) <= kMostCalls * static_cast<double>(datasets);
}

std::optional<std::int64_t> chosen_cycle(const HostMeasurement& host, IteratorId interleave) {
  const IteratorMeasurement& iterator = host.iterators[interleave];
  const std::int64_t cycle = iterator.number("cycle_length").value_or(0);
  const bool is_usual = !iterator.has(Trait::parallel) && cycle == host.cycles.cores;
  return cycle <= 1 || is_usual ? std::nullopt : std::optional(cycle);
}

std::optional<std::int64_t> cycle_to_set(const HostMeasurement& host, IteratorId iterator) {
  constexpr std::int64_t kFewest = 4;  // reading ahead of fewer files hides no opening of one
  if (chosen_cycle(host, iterator)) return std::nullopt;
  return std::max(kFewest, host.cycles.cores);
}

MadeAhead made_ahead(const HostMeasurement& host, IteratorId interleave, std::int64_t cycle_length) {
  constexpr std::int64_t kMostInARow = 1 << 10;  // no real block is longer, whatever a damaged trace says
  const std::int64_t block = host.iterators[interleave].number("block_length").value_or(1);
  MadeAhead ahead;
  ahead.of_dataset = 2 * std::clamp<std::int64_t>(block, 1, kMostInARow) + 1;
  ahead.datasets = 2 * cycle_length;
  const double elements = elements_of_dataset(host, interleave);
  if (elements > 0) ahead.share = std::min(1.0, static_cast<double>(ahead.of_dataset) / elements);
  return ahead;
}

}  // namespace doctor
