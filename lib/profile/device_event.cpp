#include "profile/device_event.h"

#include "profile/xla_op.h"

namespace doctor {

GpuEvent understand_device_event(const TraceEvent& event) {
  return is_xla_op_line(*event.line) ? understand_xla_op(event) : understand_gpu_event(event);
}

}  // namespace doctor
