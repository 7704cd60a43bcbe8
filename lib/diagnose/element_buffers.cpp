#include "diagnose/element_buffers.h"

#include <numeric>

#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "profile/tensor_type.h"

namespace doctor {
namespace {

constexpr double kLeastPart = 0.5;  // of the largest buffer: what holds less of the memory is not named. Chosen: half

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

constexpr std::string_view kBufferedElements = "buffered_elements";
constexpr std::string_view kBufferedMegabytes = "buffered_bytes_MB";
constexpr std::uint64_t kBytesPerMegabyte = 1'000'000;  // DatasetBaseIterator::BuildTraceMeName

bool keeps_elements(const IteratorMeasurement& iterator) {
  return iterator.has(Trait::buffer) || !iterator.kind().buffer_limit.empty() ||
         iterator.find(kBufferedElements) != nullptr;
}

std::optional<std::uint64_t> not_negative(std::optional<std::int64_t> number) {
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

/// The largest number that its events have, where all were looked at; else the last.
std::optional<std::uint64_t> most_of(const IteratorMeasurement& iterator, std::string_view attribute) {
  for (const AttributeHistory& history : iterator.history.attributes) {
    if (history.name == attribute && history.number_count > 0) return not_negative(history.max);
  }
  return not_negative(iterator.number(attribute));
}

/// A prefetch before TF 2.13 says it as its buffer_size.
std::optional<std::uint64_t> elements_in(const IteratorMeasurement& iterator) {
  if (iterator.history.fill) return not_negative(iterator.history.fill->max);
  const std::optional<std::uint64_t> elements = most_of(iterator, kBufferedElements);
  return elements || !iterator.has(Trait::prefetch) ? elements : most_of(iterator, "buffer_size");
}

/// Of the batches that the iterator makes, or passes on as it got them.
std::optional<std::int64_t> batch_size_of(const HostMeasurement& host, IteratorId id) {
  // No way is longer than there are iterators, whatever a damaged trace says.
  for (std::size_t steps = 0; steps < host.iterators.size(); ++steps) {
    const IteratorMeasurement& iterator = host.iterators[id];
    if (const std::optional<std::int64_t> size = iterator.number("batch_size")) return size;
    const bool changes_elements = !iterator.has(Trait::passes_on | Trait::frame | Trait::shuffle);
    if (changes_elements || iterator.children.size() != 1) return std::nullopt;
    id = iterator.children.front();
  }
  return std::nullopt;
}

/// Nothing where one of them is not known, or the product is more than any machine has.
std::optional<std::uint64_t> product(std::optional<std::uint64_t> count, std::optional<std::uint64_t> each) {
  std::uint64_t bytes = 0;
  if (!count || !each || __builtin_mul_overflow(*count, *each, &bytes)) return std::nullopt;
  return bytes;
}

/// Whether a buffer will hold no more than it did: a shuffle fills its buffer before it gives the first element, unless
/// its input has ended (or is in its third epoch; ShuffleDatasetOpBase, ShouldFillBuffer). So one that gave several and
/// is not full has seen all that there is.
bool holds_all(const IteratorMeasurement& iterator, const ElementBuffer& buffer) {
  constexpr std::uint64_t kLeastCalls = 2;  // the first call may only have begun to fill it
  constexpr double kNearlyFull = 0.9;       // it is being refilled with each element that it gives
  return iterator.has(Trait::shuffle) && iterator.calls >= kLeastCalls && buffer.elements && buffer.limit &&
         static_cast<double>(*buffer.elements) < kNearlyFull * static_cast<double>(*buffer.limit);
}

ElementBuffer buffer_of(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = host.iterators[id];
  ElementBuffer buffer;
  buffer.iterator = id;
  buffer.elements = elements_in(iterator);
  const std::string_view limit = iterator.kind().buffer_limit;
  if (!limit.empty()) buffer.limit = not_negative(last_number(iterator, limit));
  buffer.megabytes = most_of(iterator, kBufferedMegabytes);
  buffer.element_bytes = bytes_by_shapes(host, id);
  if (buffer.megabytes && *buffer.megabytes >= kLeastExactMegabytes) {
    buffer.bytes = product(buffer.megabytes, kBytesPerMegabyte);
    if (!buffer.element_bytes && buffer.bytes && buffer.elements.value_or(0) > 0) {
      buffer.element_bytes = *buffer.bytes / *buffer.elements;
    }
  } else {
    buffer.bytes = product(buffer.elements, buffer.element_bytes);
  }
  buffer.full_bytes = product(holds_all(iterator, buffer) ? buffer.elements : buffer.limit, buffer.element_bytes);
  return buffer;
}

/// Whether its elements stay in memory because the user asked for it.
bool is_held_on_request(const IteratorMeasurement& iterator) {
  if (iterator.has(Trait::buffer)) return true;
  return iterator.has(Trait::prefetch) && is_autotuned(iterator) == false;
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

std::optional<std::uint64_t> bytes_by_shapes(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = host.iterators[id];
  return element_bytes(iterator.element_shapes, iterator.element_types, batch_size_of(host, id));
}

std::vector<ElementBuffer> element_buffers(const HostMeasurement& host, const std::vector<IteratorId>& members) {
  std::vector<ElementBuffer> buffers;
  for (const IteratorId member : members) {
    if (keeps_elements(host.iterators[member])) buffers.push_back(buffer_of(host, member));
  }
  return buffers;
}

IteratorId enlarging_before(const RankedPipeline& ranked, IteratorId buffer) {
  return ranked.host.first_below(buffer, [](const OfKind& one) { return one.has(Trait::may_enlarge); });
}

IteratorId largest_enlarged_buffer(const RankedPipeline& ranked) {
  const auto size = [&](IteratorId id) {
    const double configured = static_cast<double>(ranked[id].number("buffer_size").value_or(0));
    return std::pair(buffered_megabytes(ranked[id]).value_or(0), configured);
  };
  IteratorId largest = kNoIterator;
  for (const IteratorId id : ranked.pipeline.members) {
    if (!is_held_on_request(ranked[id]) || enlarging_before(ranked, id) == kNoIterator) continue;
    if (largest == kNoIterator || size(id) > size(largest)) largest = id;
  }
  return largest;
}

}  // namespace doctor
