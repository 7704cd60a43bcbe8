#include "profile/device_profile.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/intervals.h"
#include "profile/xla_op.h"
#include "trace/chrome/chrome_threads.h"
#include "trace/event_reader.h"

namespace doctor {
namespace {

/// Whether nothing but a guess says what the device did: an event of a line that is neither a stream nor holds ops.
bool is_unread(const TraceEvent& event, const GpuEvent& understood) {
  if (understood.activity != GpuActivity::other || is_xla_op_line(*event.line)) return false;
  return !event.line->name.starts_with("Stream #") && event.line->plane->title.empty();
}

}  // namespace

std::vector<Interval> computing_of(const DeviceProfile& profile) {
  std::vector<Interval> computing;
  if (!profile.is_aligned) return computing;
  for (const DeviceActivity& device : profile.devices) {
    computing.insert(computing.end(), device.computing.begin(), device.computing.end());
  }
  return merged(std::move(computing));
}

void DeviceProfiler::begin(const EventHeader& header) {
  if (!origin_ns_) origin_ns_ = header.origin_ns;
  shift_ = time_since_origin(header.origin_ns, *origin_ns_);
  recorders_.clear();
}

DeviceRecorder* DeviceProfiler::recorder_of(const EventLine& line) {
  const auto [found, is_new] = recorders_.try_emplace(&line, nullptr);
  if (!is_new) return found->second;
  if (is_xla_module_line(line)) {
    if (const std::optional<std::string> device = accelerator_of(line.plane->name)) found->second = &devices_[*device];
  } else if (const std::optional<std::string> device = device_of_stream(line)) {
    found->second = &devices_[*device];
  }
  return found->second;
}

void DeviceProfiler::take(const TraceEvent& event) {
  DeviceRecorder* const device = recorder_of(*event.line);
  if (device == nullptr) return;
  const Picoseconds start = event.start + shift_;
  const Interval span = {start, start + event.duration};
  if (is_xla_module_line(*event.line)) return device->add_module(span);
  const GpuEvent gpu = understand_device_event(event);
  if (is_unread(event, gpu)) return device->add_unread(span);
  device->add(span, gpu);
  // What XLA runs on a device without streams is in the table of ops, and has neither grid nor registers.
  if (gpu.activity == GpuActivity::kernel && !is_xla_op_line(*event.line)) kernels_.add(event, gpu);
}

DeviceProfile DeviceProfiler::finish() {
  DeviceProfile profile;
  if (devices_.empty()) return profile;
  profile.is_aligned = is_aligned_;
  for (auto& [name, recorder] : devices_) profile.devices.push_back(recorder.finish(name));
  profile.kernels = kernels_.take();
  return profile;
}

void KernelStatistics::add(const TraceEvent& event, const GpuEvent& kernel) {
  if (event.duration < kPicosecondsPerNanosecond) return;
  KernelRow row;
  row.kernel_name = kernel.name;
  row.op_name = kernel.op_name;
  row.launch = kernel.launch;
  row.is_op_tensor_core_eligible = kernel.is_op_tensor_core_eligible;
  row.uses_tensor_cores = kernel.uses_tensor_cores;
  row.occurrences = 1;
  row.total = row.min = row.max = event.duration;
  add(row);
}

void KernelStatistics::add(const KernelRow& row) {
  const LaunchParameters& launch = row.launch;
  const auto [found, is_new] =
      rows_.try_emplace(Key{row.kernel_name, row.op_name, launch.grid, launch.block, launch.registers_per_thread,
                            launch.static_shared_bytes, launch.dynamic_shared_bytes, row.uses_tensor_cores,
                            row.is_op_tensor_core_eligible},
                        row);
  if (is_new) return;
  KernelRow& sum = found->second;
  sum.occurrences += row.occurrences;
  sum.total += row.total;
  sum.min = std::min(sum.min, row.min);
  sum.max = std::max(sum.max, row.max);
}

std::vector<KernelRow> KernelStatistics::take() {
  std::vector<KernelRow> rows;
  rows.reserve(rows_.size());
  for (auto& [key, row] : rows_) rows.push_back(std::move(row));
  rows_.clear();
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace doctor
