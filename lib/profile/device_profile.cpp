#include "profile/device_profile.h"

#include "base/intervals.h"
#include "profile/xla_op.h"

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
  events_.end_file();
  last_ = nullptr;
}

void DeviceProfiler::take(const TraceEvent& event) {
  if (const std::optional<DeviceEvent> understood = events_.understand(event)) take(*understood);
}

void DeviceProfiler::take(const DeviceEvent& understood) {
  const TraceEvent& event = understood.event;
  if (event.line != last_) recorder_of_last_ = &devices_[understood.device];
  last_ = event.line;
  DeviceRecorder& device = *recorder_of_last_;
  const Picoseconds start = event.start + shift_;
  const Interval span = {start, start + event.duration};
  if (understood.meaning == nullptr) return device.add_module(span);
  const GpuEvent& meaning = *understood.meaning;
  if (is_unread(event, meaning)) return device.add_unread(span);
  device.add(span, meaning);
  // What XLA runs on a device without streams is in the table of ops, and has neither grid nor registers.
  if (meaning.activity == GpuActivity::kernel && !is_xla_op_line(*event.line)) kernels_.add(meaning, event.duration);
}

DeviceProfile DeviceProfiler::finish() {
  DeviceProfile profile;
  if (devices_.empty()) return profile;
  profile.is_aligned = is_aligned_;
  for (auto& [name, recorder] : devices_) profile.devices.push_back(recorder.finish(name));
  profile.kernels = kernels_.take();
  return profile;
}

namespace {

void add_runs(KernelRow& sum, const KernelRow& runs) {
  const bool is_first = sum.occurrences == 0;
  sum.occurrences += runs.occurrences;
  sum.total += runs.total;
  sum.min = is_first ? runs.min : std::min(sum.min, runs.min);
  sum.max = is_first ? runs.max : std::max(sum.max, runs.max);
}

}  // namespace

void KernelStatistics::add(const GpuEvent& kernel, Picoseconds duration) {
  if (duration < kPicosecondsPerNanosecond) return;
  if (kernel.number >= numbered_.size()) numbered_.resize(kernel.number + 1);
  KernelRow run;
  run.occurrences = 1;
  run.total = run.min = run.max = duration;
  KernelRow* sum = kernel.number == 0 ? nullptr : numbered_[kernel.number];
  if (sum == nullptr) {
    KernelRow row;
    row.kernel_name = kernel.name;
    row.op_name = kernel.op_name;
    row.launch = kernel.launch;
    row.is_op_tensor_core_eligible = kernel.is_op_tensor_core_eligible;
    row.uses_tensor_cores = kernel.uses_tensor_cores;
    sum = numbered_[kernel.number] = &sum_of(row);
  }
  add_runs(*sum, run);
}

void KernelStatistics::add(const KernelRow& row) {
  add_runs(sum_of(row), row);
}

/// The runs of one kernel that was launched in the same way for the same op: none, if it is new.
KernelRow& KernelStatistics::sum_of(const KernelRow& row) {
  const LaunchParameters& launch = row.launch;
  const auto [found, is_new] =
      rows_.try_emplace(Key{row.kernel_name, row.op_name, launch.grid, launch.block, launch.registers_per_thread,
                            launch.static_shared_bytes, launch.dynamic_shared_bytes, row.uses_tensor_cores,
                            row.is_op_tensor_core_eligible},
                        row);
  KernelRow& sum = found->second;
  if (is_new) {
    sum.occurrences = 0;
    sum.total = 0;
  }
  return sum;
}

std::vector<KernelRow> KernelStatistics::take() {
  std::vector<KernelRow> rows;
  rows.reserve(rows_.size());
  for (auto& [key, row] : rows_) rows.push_back(std::move(row));
  rows_.clear();
  numbered_.clear();
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace doctor
