#include "base/intervals.h"
#include "profile/device_profile.h"

namespace doctor {
namespace {

std::size_t place_of(GpuActivity copy) {
  return static_cast<std::size_t>(copy) - static_cast<std::size_t>(GpuActivity::copy_to_device);
}

}  // namespace

void DeviceRecorder::LengthHistogram::add(Picoseconds length) {
  const auto value = static_cast<std::uint64_t>(std::max<Picoseconds>(length, kClassesPerDoubling));
  const auto doubling = static_cast<std::size_t>(std::bit_width(value) - 1);
  const std::uint64_t within = (value - (std::uint64_t{1} << doubling)) * kClassesPerDoubling >> doubling;
  if (counts_.size() <= doubling) counts_.resize(doubling + 1);
  if (counts_[doubling] == nullptr) counts_[doubling] = std::make_unique<Classes>();
  ++(*counts_[doubling])[static_cast<std::size_t>(within)];
  ++total_;
}

Picoseconds DeviceRecorder::LengthHistogram::median() const {
  std::uint64_t seen = 0;
  for (std::size_t doubling = 0; doubling < counts_.size(); ++doubling) {
    if (counts_[doubling] == nullptr) continue;
    for (std::size_t within = 0; within < kClassesPerDoubling; ++within) {
      seen += (*counts_[doubling])[within];
      if (seen == 0 || 2 * seen < total_) continue;
      const std::uint64_t base = std::uint64_t{1} << doubling;
      return static_cast<Picoseconds>(base + (base / kClassesPerDoubling) * within);
    }
  }
  return 0;
}

CopyStatistics* DeviceRecorder::statistics_of(GpuActivity activity) {
  switch (activity) {
    case GpuActivity::copy_to_device:
      return &result_.to_device;
    case GpuActivity::copy_to_host:
      return &result_.to_host;
    case GpuActivity::copy_on_device:
      return &result_.on_device;
    case GpuActivity::copy_between_devices:
      return &result_.between_devices;
    default:
      return nullptr;
  }
}

void DeviceRecorder::extend_window(Interval span) {
  if (!has_events_) result_.window = span;
  has_events_ = true;
  result_.window = {std::min(result_.window.start, span.start), std::max(result_.window.end, span.end)};
}

void DeviceRecorder::add_module(Interval span) {
  modules_.add(span);
}

void DeviceRecorder::add_unread(Interval span) {
  extend_window(span);
  ++result_.unread_count;
  others_.add(span);
}

void DeviceRecorder::add(Interval span, const GpuEvent& event) {
  extend_window(span);
  if (event.activity == GpuActivity::kernel) return add_kernel(span, event);
  if (event.activity == GpuActivity::infeed) return infeed_.add(span);
  if (event.activity == GpuActivity::outfeed) return outfeed_.add(span);
  if (event.activity == GpuActivity::copy_wait) {
    copy_wait_.add(span);
    computing_.add(span);
    return;
  }
  CopyStatistics* const copies = statistics_of(event.activity);
  if (copies == nullptr) return others_.add(span);
  ++copies->count;
  copies->bytes += event.bytes;
  copies_[place_of(event.activity)].add(span);
}

void DeviceRecorder::add_kernel(Interval span, const GpuEvent& event) {
  const Picoseconds length = span.end - span.start;
  ++result_.kernel_count;
  result_.kernel_sum += length;
  kernel_lengths_.add(length);
  kernels_.add(span);
  if (!event.op_name.empty()) result_.of_named_ops += length;
  if (event.is_op_tensor_core_eligible) result_.tensor_core_eligible += length;
  if (event.is_op_tensor_core_eligible && event.uses_tensor_cores) result_.on_tensor_cores += length;
  if (event.is_collective) {
    result_.collectives += length;
    return;
  }
  (event.is_half_precision ? result_.half_precision : result_.full_precision) += length;
  computing_.add(span);
}

DeviceActivity DeviceRecorder::finish(std::string name) {
  // Without ops all that is known is when programs ran; what they waited for is not.
  if (!has_events_) {
    for (const Interval span : modules_.take()) {
      extend_window(span);
      computing_.add(span);
      others_.add(span);
    }
  }
  result_.name = std::move(name);
  result_.median_kernel = kernel_lengths_.median();
  const std::vector<Interval> kernels = kernels_.take();
  result_.kernels = total_length(kernels);
  std::vector<Interval> busy = kernels;
  for (const GpuActivity copy : {GpuActivity::copy_to_device, GpuActivity::copy_to_host, GpuActivity::copy_on_device,
                                 GpuActivity::copy_between_devices}) {
    const std::vector<Interval> spans = copies_[place_of(copy)].take();
    const Picoseconds time = total_length(spans);
    statistics_of(copy)->time = time;
    if (copy == GpuActivity::copy_to_device) {
      result_.uncovered_copies_to_device = time - total_length(intersected(spans, kernels));
    }
    busy.insert(busy.end(), spans.begin(), spans.end());
  }
  for (const auto& [set, time] : {std::pair(&infeed_, &result_.infeed), std::pair(&outfeed_, &result_.outfeed),
                                  std::pair(&copy_wait_, &result_.copy_wait)}) {
    const std::vector<Interval> spans = set->take();
    *time = total_length(spans);
    busy.insert(busy.end(), spans.begin(), spans.end());
  }
  const std::vector<Interval> others = others_.take();
  busy.insert(busy.end(), others.begin(), others.end());
  busy = merged(std::move(busy));
  result_.busy = total_length(busy);
  result_.computing = computing_.take();
  return std::move(result_);
}

}  // namespace doctor
