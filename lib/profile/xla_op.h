#pragma once

#include "base/time.h"
#include "profile/gpu_event.h"
#include "trace/event_reader.h"

namespace doctor {

/// An op of XLA, as a line "XLA Ops" of a device shows it. Views live as long as the event.
struct XlaOp {
  std::string_view name;          ///< "fusion.12"
  std::string_view category;      ///< "convolution fusion", "copy-done"; where the trace has none, the name's word
  std::string_view framework_op;  ///< "jit(f)/jit(main)/add" or "model/dense/MatMul"; empty if the trace does not say
  std::string_view source;        ///< "train.py:37"; empty if the trace does not say
  double flops = 0;               ///< of one run; 0 if the trace does not say
  double bytes = 0;               ///< memory that one run reads and writes; 0 if the trace does not say
  /// Times on the device's own clock, if the trace has it: times on the host's clock are adjusted to it op by op.
  Picoseconds start = 0;
  Picoseconds duration = 0;
};

/// Tests whether events of the line are ops of XLA that are the device's own work: those of a TPU's cores, including
/// its sparse cores, and of any other device except a GPU. On a GPU they repeat what its streams show.
bool is_xla_op_line(const EventLine& line);

/// Tests whether the line shows when programs of XLA run on a device. If the device has no line of ops, that is its
/// work.
bool is_xla_module_line(const EventLine& line);

XlaOp parse_xla_op(const TraceEvent& event);

/// The meaning of the op, as an event of a stream would have it. Ops that only contain others (`while`) are `other`:
/// what runs in them counts. Ops that wait for a transfer beside the cores are `copy_wait`. Categories as in
/// tsl/profiler/convert/xla_op_utils.h.
GpuEvent understand_xla_op(const TraceEvent& event);

/// The meaning of an event of a line for which device_of_stream() names a device: of a stream, or an op of XLA.
GpuEvent understand_device_event(const TraceEvent& event, KernelNames& names);

}  // namespace doctor
