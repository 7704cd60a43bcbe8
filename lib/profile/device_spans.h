#pragma once

#include <vector>

#include "base/time.h"
#include "profile/gpu_event.h"
#include "profile/span_set.h"
#include "trace/event_reader.h"

namespace doctor {

/// The times at which any device of a host does each of the things that a step's time is divided into. Each list is
/// disjoint and sorted.
struct DeviceSpans {
  std::vector<Interval> compute_16;       ///< kernels in 16-bit floating point
  std::vector<Interval> compute_32;       ///< other kernels, except collective operations
  std::vector<Interval> copy_to_device;   ///< copies from the host, and waits of the device for its infeed
  std::vector<Interval> copy_to_host;     ///< copies to the host, and the outfeed
  std::vector<Interval> copy_wait;        ///< an op waits for a copy beside it
  std::vector<Interval> between_devices;  ///< copies on and between devices, and collective operations
};

/// Gathers them in memory that does not grow with the trace.
class DeviceSpansBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  DeviceSpans finish();

 private:
  SpanSet* set_of(const GpuEvent& event);

  SpanSet compute_16_;
  SpanSet compute_32_;
  SpanSet copy_to_device_;
  SpanSet copy_to_host_;
  SpanSet copy_wait_;
  SpanSet between_devices_;
};

}  // namespace doctor
