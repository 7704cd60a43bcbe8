#include "base/intervals.h"
#include "measure/cycles/cycle_recording.h"

namespace doctor {
namespace {

/// A device starts its next kernel within this time, if that was launched before. Source: loops of JAX on an H200 with
/// 320 to 2,900 kernels a step. Without a recording their steps take 24.8, 29.5 and 11.7 ms, in recordings their
/// devices work for 24.8, 29.0 and 11.2 ms if such pauses are counted, and 21.5, 25.3 and 10.1 ms if not.
constexpr Picoseconds kBetweenKernels = 20 * kPicosecondsPerMicrosecond;
/// In a longer pause than this the host does something else than launching kernels.
constexpr Picoseconds kLongestLaunch = kPicosecondsPerMillisecond;

/// Disjoint sorted intervals with the pauses between them closed that are no longer than this.
std::vector<Interval> with_closed_pauses(const std::vector<Interval>& spans, Picoseconds longest) {
  std::vector<Interval> closed;
  for (const Interval span : spans) {
    if (!closed.empty() && span.start - closed.back().end <= longest) {
      closed.back().end = span.end;
    } else {
      closed.push_back(span);
    }
  }
  return closed;
}

double microseconds_in(Interval window, const std::vector<Interval>& spans) {
  // The spans that reach into the window: both their starts and their ends ascend.
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [&](Interval span) { return span.end <= window.start; });
  const auto last = std::partition_point(first, spans.end(), [&](Interval span) { return span.start < window.end; });
  std::vector<Interval> parts;
  clip(window, {first, last}, parts);
  return to_microseconds(total_length(parts));
}

}  // namespace

void find_device_time(const DeviceProfile& devices, ConsumerCycles& consumer) {
  const std::vector<Interval> computing = computing_of(devices);
  if (computing.empty() || consumer.steps.size() < 2) return;
  const std::vector<Interval> working = with_closed_pauses(computing, kBetweenKernels);
  const std::vector<Interval> launching = with_closed_pauses(computing, kLongestLaunch);
  const std::size_t gaps = consumer.steps.size() - 1;
  for (std::size_t index = 0; index < gaps; ++index) {
    ConsumerStep& step = consumer.steps[index];
    const Interval gap = {step.call.end, consumer.steps[index + 1].call.start};
    if (gap.start >= gap.end) continue;
    step.device = microseconds_in(gap, working);
    step.launching = microseconds_in(gap, launching) - step.device;
  }
  const Interval window = {consumer.steps.front().call.start, consumer.steps.back().call.start};
  for (const DeviceActivity& device : devices.devices) {
    const double works = microseconds_in(window, with_closed_pauses(device.computing, kBetweenKernels));
    if (works / static_cast<double>(gaps) <= consumer.device_step) continue;
    consumer.device_step = works / static_cast<double>(gaps);
    consumer.computing = microseconds_in(window, device.computing) / static_cast<double>(gaps);
  }
}

}  // namespace doctor
