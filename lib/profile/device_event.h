#pragma once

#include "profile/gpu_event.h"
#include "trace/event_reader.h"

namespace doctor {

/// The meaning of an event of a line for which device_of_stream() names a device: of a stream, or an op of XLA.
GpuEvent understand_device_event(const TraceEvent& event);

}  // namespace doctor
