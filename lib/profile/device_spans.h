#pragma once

#include <vector>

#include "base/time.h"
#include "profile/gpu_event.h"
#include "profile/span_set.h"
#include "trace/event_reader.h"

namespace doctor {

/// When any device of a host does what a step's time is broken down by. Each list is disjoint and sorted.
struct DeviceSpans {
  std::vector<Interval> compute_16;       ///< kernels in 16-bit floating point
  std::vector<Interval> compute_32;       ///< other kernels, but for collective operations
  std::vector<Interval> copy_to_device;   ///< from the host, or the device waits for its infeed
  std::vector<Interval> copy_to_host;     ///< or its outfeed
  std::vector<Interval> copy_wait;        ///< an op waits for a copy that goes on beside it
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
