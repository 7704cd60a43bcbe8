#include "measure/input_work.h"

#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Whether elements above `iterator` are made ahead of the consumer, or kept from an earlier epoch.
bool is_read_in_advance(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  std::size_t steps = host.iterators.size();  // a file may hold a cycle
  for (IteratorId above = iterator.parent; above != kNoIterator && steps > 0; --steps) {
    const IteratorMeasurement& ancestor = host.iterators[above];
    if (ancestor.is_async || ancestor.has(Trait::cache)) return true;
    above = ancestor.parent;
  }
  return false;
}

}  // namespace

InputWork work_of(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  const DatasetKind& kind = iterator.kind();
  if (iterator.is_device_hop || kind.has(Trait::multi_device)) return InputWork::enqueue;
  if (kind.reads_files()) {
    return is_read_in_advance(host, iterator) ? InputWork::read_in_advance : InputWork::read_on_demand;
  }
  if (iterator.is_source || kind.has(Trait::prefetch | Trait::frame)) return InputWork::other;
  return InputWork::preprocessing;
}

}  // namespace doctor
