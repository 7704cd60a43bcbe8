#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/event_reader.h"

namespace doctor {

/// Gathers the steps that the lines "Steps" of devices show, which the profiler derives from what each step launched.
class DeviceStepsBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;

  /// Of each step the longest that a device shows, sorted by start: as long as the slowest device took.
  std::vector<StepMarker> finish();

 private:
  std::map<std::int64_t, StepMarker> steps_;  ///< by number
};

}  // namespace doctor
