#include "trace/queue_sample.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace doctor {
namespace {

/// Ids are counted, so neighbours must get hashes that have nothing to do with each other (the finalizer of
/// SplitMix64). Never 0.
std::uint64_t hash_of(std::uint64_t id) {
  id = (id ^ (id >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  id = (id ^ (id >> 27)) * 0x94d0'49bb'1331'11ebu;
  constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
  return (id ^ (id >> 31)) | kHighest;
}

}  // namespace

bool QueueSampler::is_sampled(std::uint64_t id) const {
  return halvings_ == 0 || static_cast<unsigned>(std::countr_zero(hash_of(id))) >= halvings_;
}

void QueueSampler::queued(std::uint64_t id, Picoseconds start) {
  if (is_sampled(id)) take(id, {start, LaneId{}, false});
}

void QueueSampler::started(std::uint64_t id, Picoseconds start, LaneId lane) {
  if (is_sampled(id)) take(id, {start, lane, true});
}

void QueueSampler::take(std::uint64_t id, const Half& half) {
  const auto [place, is_first] = halves_.try_emplace(id, half);
  if (is_first) {
    if (halves_.size() + pairs_.size() > kCapacity) thin_out();
    return;
  }
  if (place->second.is_started == half.is_started) {
    place->second = half;
    return;
  }
  const auto [queued, started] = half.is_started ? std::pair(place->second, half) : std::pair(half, place->second);
  if (queued.start <= started.start) pairs_.push_back({id, {{queued.start, started.start}, started.lane}});
  halves_.erase(place);
}

/// A file may use one id for everything, so one halving need not be enough. No hash has 64 zeros at its end: the loop
/// ends.
void QueueSampler::thin_out() {
  while (halves_.size() + pairs_.size() > kCapacity) {
    ++halvings_;
    std::erase_if(halves_, [&](const auto& entry) { return !is_sampled(entry.first); });
    std::erase_if(pairs_, [&](const Pair& pair) { return !is_sampled(pair.id); });
  }
}

QueueSample QueueSampler::finish() {
  QueueSample sample;
  sample.stride = std::uint64_t{1} << std::min(halvings_, 63u);
  sample.closures.reserve(pairs_.size());
  for (const Pair& pair : pairs_) sample.closures.push_back(pair.closure);
  std::sort(sample.closures.begin(), sample.closures.end(), [](const QueuedClosure& a, const QueuedClosure& b) {
    return std::tie(a.waited.start, a.waited.end, a.lane) < std::tie(b.waited.start, b.waited.end, b.lane);
  });
  *this = {};
  return sample;
}

}  // namespace doctor
