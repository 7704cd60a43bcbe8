#include "profile/device_spans.h"

#include "profile/device_event.h"

namespace doctor {

SpanSet* DeviceSpansBuilder::set_of(const GpuEvent& event) {
  switch (event.activity) {
    case GpuActivity::kernel:
      if (event.is_collective) return &between_devices_;
      return event.is_half_precision ? &compute_16_ : &compute_32_;
    case GpuActivity::copy_to_device:
    case GpuActivity::infeed:
      return &copy_to_device_;
    case GpuActivity::copy_to_host:
    case GpuActivity::outfeed:
      return &copy_to_host_;
    case GpuActivity::copy_wait:
      return &copy_wait_;
    case GpuActivity::copy_on_device:
    case GpuActivity::copy_between_devices:
      return &between_devices_;
    case GpuActivity::other:
      break;
  }
  return nullptr;
}

void DeviceSpansBuilder::take(const TraceEvent& event) {
  if (event.line->plane->kind != PlaneKind::device || !device_of_stream(*event.line)) return;
  SpanSet* const set = set_of(understand_device_event(event));
  if (set != nullptr) set->add({event.start, event.start + event.duration});
}

DeviceSpans DeviceSpansBuilder::finish() {
  return {compute_16_.take(),   compute_32_.take(), copy_to_device_.take(),
          copy_to_host_.take(), copy_wait_.take(),  between_devices_.take()};
}

}  // namespace doctor
