#pragma once

#include <array>
#include <unordered_map>

#include "trace/event_reader.h"

namespace doctor {

/// The activity of a GPU in an event of one of its streams, or of another device in an op.
enum class GpuActivity : std::uint8_t {
  other,  ///< memory that is set or allocated, and work of the profiler itself
  kernel,
  copy_to_device,        ///< copies from the host
  copy_to_host,          ///< copies from the device
  copy_on_device,        ///< copies within one device
  copy_between_devices,  ///< copies from one device to another
  // The next three are ops of XLA, which run on the device's own cores.
  infeed,     ///< it waits for the host's data, or takes it
  outfeed,    ///< it hands data to the host
  copy_wait,  ///< it waits for a copy beside it
};

/// The parts of an op's name as the profiler writes it.
struct OpName {
  std::string_view name;  ///< "linear/MatMul"; of an iterator its long name
  std::string_view type;  ///< "MatMul"; "Dataset" of an iterator; "MemcpyHToD" of a copy
};

using Dimensions = std::array<std::uint32_t, 3>;

/// The launch of a kernel, from the statistic `kernel_details`: "regs:38 static_shared:0 dynamic_shared:16384
/// grid:160,1,1 block:1024,1,1 occ_pct:50", before TF 2.4 with "shm:0" for the shared memory.
struct LaunchParameters {
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  Dimensions block = {1, 1, 1};
  Dimensions grid = {1, 1, 1};
  std::optional<double> occupancy_percent;  ///< theoretical

  std::uint64_t shared_bytes() const { return std::uint64_t{static_shared_bytes} + dynamic_shared_bytes; }
  friend bool operator==(const LaunchParameters&, const LaunchParameters&) = default;
};

/// An event of a stream with its meaning. Views live as long as the event.
struct GpuEvent {
  /// Events of one reading with the same number are runs of one kernel, launched in one way for one op. 0: not known
  std::uint32_t number = 0;
  GpuActivity activity = GpuActivity::other;
  std::string_view name;    ///< name of the kernel; a TF1 timeline has only the type of its op
  std::uint64_t bytes = 0;  ///< size of a copy; 0 if the trace does not say

  // Set for kernels.
  LaunchParameters launch;
  std::string_view op_name;                 ///< "model/dense/MatMul"; empty if the trace does not say
  bool is_op_tensor_core_eligible = false;  ///< the op could run on TensorCores
  bool uses_tensor_cores = false;           ///< the kernel runs on TensorCores
  bool is_half_precision = false;           ///< 16-bit floating point
  bool is_collective = false;               ///< NCCL: exchanges data with other devices, and waits for them

  bool is_copy() const {
    return activity >= GpuActivity::copy_to_device && activity <= GpuActivity::copy_between_devices;
  }
};

/// The device whose own work the events of a line are ("/device:GPU:0"); nullopt for lines that hold something else or
/// repeat others. TF1 timelines have a process for each stream, one for all streams together, and one for what the host
/// schedules on the device.
std::optional<std::string> device_of_stream(const EventLine& line);

/// What the name of a kernel says.
struct KernelName {
  bool uses_tensor_cores = false;
  bool is_half_precision = false;
};

/// What the names of kernels say, of hundreds of letters in which much is looked for: worked out once for each.
class KernelNames {
 public:
  KernelName of(std::string_view name);

 private:
  /// More than any job has: no file fills the memory with them.
  static constexpr std::size_t kMostNames = std::size_t{1} << 14;

  std::unordered_map<std::string, KernelName> known_;
};

/// The meaning of an event of a stream, on a line for which device_of_stream() names a device.
GpuEvent understand_gpu_event(const TraceEvent& event, KernelNames& names);

/// The op that launched an event of a stream, with its type: "model/dense/MatMul:MatMul"; empty if the trace does not
/// say. Views as of the event.
std::string_view op_of_gpu_event(const TraceEvent& event);

/// The op of an event that a program of XLA launched: the framework's, "jit(f)/while/body/dot_general", whose type is
/// its primitive, else that of the HLO, of type "Unknown" as in XProf. nullopt for what others launched. Views as of
/// the event.
std::optional<OpName> xla_op_of_gpu_event(const TraceEvent& event);

/// Tests whether an event of this name copies data from the host to a device: the copy on a stream of the device, or
/// the driver call on the host that starts it.
bool is_copy_to_device(std::string_view event_name);

/// Parses `kernel_details`. Unknown parts are skipped.
LaunchParameters parse_kernel_details(std::string_view details);

/// Tests whether a kernel of this name uses TensorCores, on any generation of GPUs.
bool is_tensor_core_kernel(std::string_view kernel_name);

/// Tests whether an op could run on TensorCores: by its name, as XProf does, or by its type. The type covers ops whose
/// name was made unique ("…/MatMul_1") or given by the user.
bool is_tensor_core_eligible(std::string_view op_name, std::string_view op_type);

}  // namespace doctor
