#include "measure/input_work.h"

#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// Whether elements above `iterator` are made ahead of the consumer, or kept from an earlier epoch.
bool is_read_in_advance(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  std::size_t steps = host.iterators.size();  // a file may hold a cycle
  for (IteratorId above = iterator.parent; above != kNoIterator && steps > 0; --steps) {
    const IteratorMeasurement& ancestor = host.iterators[index_of(above)];
    if (ancestor.is_async || is_cache(ancestor.short_name)) return true;
    above = ancestor.parent;
  }
  return false;
}

}  // namespace

InputWork work_of(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  if (iterator.is_device_hop || without_version(iterator.short_name).starts_with("MultiDeviceIterator")) {
    return InputWork::enqueue;
  }
  if (reads_files(iterator.short_name)) {
    return is_read_in_advance(host, iterator) ? InputWork::read_in_advance : InputWork::read_on_demand;
  }
  const bool only_buffers = without_version(iterator.short_name) == "Prefetch";
  if (iterator.is_source || only_buffers || is_frame(iterator.short_name)) return InputWork::other;
  return InputWork::preprocessing;
}

}  // namespace doctor
