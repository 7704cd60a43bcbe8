#include "profile/device_profile.h"

#include <optional>
#include <utility>

#include "base/intervals.h"
#include "trace/event_reader.h"

namespace doctor {

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
  if (const std::optional<std::string> device = device_of_stream(line)) found->second = &devices_[*device];
  return found->second;
}

void DeviceProfiler::take(const TraceEvent& event) {
  DeviceRecorder* const device = recorder_of(*event.line);
  if (device == nullptr) return;
  const GpuEvent gpu = understand_gpu_event(event);
  const Picoseconds start = event.start + shift_;
  device->add({start, start + event.duration}, gpu);
  if (gpu.activity == GpuActivity::kernel) kernels_.add(event, gpu);
}

DeviceProfile DeviceProfiler::finish() {
  DeviceProfile profile;
  if (devices_.empty()) return profile;
  profile.is_aligned = is_aligned_;
  for (auto& [name, recorder] : devices_) profile.devices.push_back(recorder.finish(name));
  profile.kernels = kernels_.take();
  return profile;
}

}  // namespace doctor
