#include "diagnose/growing_buffer.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "diagnose/dataset_words.h"

namespace doctor {
namespace {

constexpr double kLeastPart = 0.5;

std::vector<ElementBuffer> all_buffers(const HostMeasurement& host) {
  std::vector<IteratorId> ids;
  ids.reserve(host.iterators.size());
  for (std::size_t index = 0; index < host.iterators.size(); ++index) ids.push_back(static_cast<IteratorId>(index));
  return element_buffers(host, ids);
}

bool is_being_filled(const HostMeasurement& host, IteratorId cache) {
  return std::any_of(host.pipelines.begin(), host.pipelines.end(), [&](const PipelineMeasurement& pipeline) {
    return std::any_of(pipeline.cache_fills.begin(), pipeline.cache_fills.end(),
                       [&](const CacheFill& fill) { return fill.iterator == cache; });
  });
}

}  // namespace

std::optional<GrowingBuffer> growing_buffer(const HostMeasurement& host, const MemoryGrowth& growth) {
  std::optional<GrowingBuffer> largest;
  for (const ElementBuffer& buffer : all_buffers(host)) {
    const IteratorMeasurement& iterator = host.iterators[buffer.iterator];
    if (iterator.has(Trait::shuffle)) continue;
    const bool is_filling_cache = iterator.has(Trait::cache) && is_being_filled(host, buffer.iterator);
    const bool is_unknown_cache = is_filling_cache && !buffer.bytes;
    const double bytes = static_cast<double>(buffer.bytes.value_or(0));
    if (!is_unknown_cache && bytes < kLeastPart * growth.bytes()) continue;
    if (!largest || buffer.bytes > largest->buffer.bytes) largest = {buffer, is_filling_cache};
  }
  return largest;
}

std::uint64_t buffered_bytes(const HostMeasurement& host) {
  const std::vector<ElementBuffer> buffers = all_buffers(host);
  return std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ElementBuffer& buffer) { return sum + buffer.bytes.value_or(0); });
}

std::uint64_t bytes_to_come(const HostMeasurement& host) {
  std::uint64_t sum = 0;
  for (const ElementBuffer& buffer : all_buffers(host)) {
    if (buffer.bytes && buffer.full_bytes && *buffer.full_bytes > *buffer.bytes) {
      sum += *buffer.full_bytes - *buffer.bytes;
    }
  }
  return sum;
}

}  // namespace doctor
