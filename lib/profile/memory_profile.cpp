#include <charconv>

#include "profile/profile.h"
#include "profile/profile_parts.h"
#include "profile/tensor_type.h"

namespace doctor {
namespace {

constexpr std::string_view kAllocationName = "MemoryAllocation";
constexpr std::string_view kDeallocationName = "MemoryDeallocation";

/// Bytes or an address. Nothing for a negative number: the allocator does not know.
std::optional<std::uint64_t> whole_argument(const TraceEvent& event, std::string_view name) {
  const std::optional<std::int64_t> number = event.find_integer(name);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

/// Whole numbers are written as integers, and all numbers of Chrome traces as texts.
double share_argument(const TraceEvent& event, std::string_view name) {
  const EventArgument* const argument = event.find(name);
  if (argument == nullptr) return 0;
  double share = argument->real;
  if (argument->type == ArgumentType::text) {
    std::from_chars(argument->text.data(), argument->text.data() + argument->text.size(), share);
  } else if (argument->type != ArgumentType::real) {
    share = static_cast<double>(argument->as_integer().value_or(0));
  }
  return share >= 0 && share <= 1 ? share : 0;
}

/// TensorFlow's allocators have names. Those of a TPU are told apart by its number on the host, those of other devices
/// by theirs, as in xplane_to_memory_profile.cc. Empty if the event says none of it.
std::string allocator_of(const TraceEvent& event) {
  if (const std::string_view name = event.find_text("allocator_name"); !name.empty()) return std::string(name);
  for (const std::string_view argument : {"index_on_host", "device_ordinal"}) {
    if (const std::optional<std::uint64_t> number = whole_argument(event, argument)) {
      return "device " + std::to_string(*number);
    }
  }
  return {};
}

std::optional<AllocatorRecorder::State> state_after(const TraceEvent& event) {
  const std::optional<std::uint64_t> allocated = whole_argument(event, "bytes_allocated");
  if (!allocated) return std::nullopt;
  AllocatorRecorder::State state;
  state.reserved_bytes = whole_argument(event, "bytes_reserved").value_or(0);
  state.bytes_in_use = *allocated + state.reserved_bytes;
  state.free_bytes = whole_argument(event, "bytes_available").value_or(0);
  state.lifetime_peak_bytes = whole_argument(event, "peak_bytes_in_use").value_or(0);
  state.fragmentation = share_argument(event, "fragmentation");
  return state;
}

AllocationGroup allocation_of(const TraceEvent& event) {
  AllocationGroup allocation;
  allocation.op_name = event.find_text("tf_op");
  allocation.region_type = event.find_text("region_type");
  allocation.shape = event.find_text("shape");
  if (const EventArgument* const type = event.find("data_type")) {
    allocation.data_type = tensor_type_name(type->as_integer().value_or(0));
  }
  allocation.requested_bytes = whole_argument(event, "requested_bytes").value_or(0);
  allocation.allocation_bytes = whole_argument(event, "allocation_bytes").value_or(0);
  return allocation;
}

std::int64_t rounded_down(Picoseconds time, Picoseconds width) {
  return time / width - (time % width < 0 ? 1 : 0);
}

void merge_into(MemorySpan& span, const MemorySpan& other) {
  // Of changes at the same time the one that leaves more in use counts, whichever came first.
  if (std::pair(other.end, other.last_bytes) > std::pair(span.end, span.last_bytes)) {
    span.end = other.end;
    span.last_bytes = other.last_bytes;
  }
  span.start = std::min(span.start, other.start);
  span.most_bytes = std::max(span.most_bytes, other.most_bytes);
}

}  // namespace

void AllocatorRecorder::change(Picoseconds time, const State& state) {
  MemoryPeak& peak = result_.peak;
  const bool is_first = result_.allocation_count + result_.deallocation_count == 0;
  if (is_first || state.bytes_in_use > peak.bytes) {
    peak = {state.bytes_in_use, 0, 0, 0, time, time, 0};
  }
  if (state.bytes_in_use == peak.bytes) {
    if (peak.count == 0 || std::pair(time, state.fragmentation) > std::pair(peak.time, peak.fragmentation)) {
      peak.time = time;
      peak.reserved_bytes = state.reserved_bytes;
      peak.free_bytes = state.free_bytes;
      peak.fragmentation = state.fragmentation;
    }
    peak.first_time = std::min(peak.first_time, time);
    ++peak.count;
  }
  result_.lifetime_peak_bytes = std::max(result_.lifetime_peak_bytes, state.lifetime_peak_bytes);
  result_.max_fragmentation = std::max(result_.max_fragmentation, state.fragmentation);
  fragmentation_sum_ += state.fragmentation;
  timeline_.add(time, state.bytes_in_use);
}

void AllocatorRecorder::allocate(Picoseconds time, std::uint64_t address, const AllocationGroup& allocation) {
  ++result_.allocation_count;
  if (allocation.allocation_bytes < result_.least_followed_bytes) return;
  add_row({time, address, allocation.allocation_bytes, group_of(allocation)});
}

void AllocatorRecorder::free(Picoseconds time, std::uint64_t address, std::uint64_t bytes) {
  ++result_.deallocation_count;
  if (bytes >= result_.least_followed_bytes) add_row({time, address, bytes, kFreed});
}

std::uint32_t AllocatorRecorder::group_of(const AllocationGroup& allocation) {
  const auto [place, is_new] =
      group_ids_.try_emplace(GroupKey{allocation.op_name, allocation.region_type, allocation.data_type,
                                      allocation.shape, allocation.requested_bytes, allocation.allocation_bytes},
                             static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(allocation);
  return place->second;
}

void AllocatorRecorder::add_row(const Row& row) {
  rows_.push_back(row);
  if (rows_.size() <= kMostRows) return;
  std::vector<std::uint64_t> sizes;
  sizes.reserve(rows_.size());
  for (const Row& kept : rows_) sizes.push_back(kept.bytes);
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  result_.least_followed_bytes = *middle + 1;
  std::erase_if(rows_, [&](const Row& kept) { return kept.bytes < result_.least_followed_bytes; });
}

/// The last event of each address up to the peak tells whether it is held.
void AllocatorRecorder::find_held_at_peak() {
  std::unordered_map<std::uint64_t, const Row*> last;
  for (const Row& row : rows_) {
    if (row.time > result_.peak.time) continue;
    const auto [place, is_new] = last.try_emplace(row.address, &row);
    if (!is_new && row.time >= place->second->time) place->second = &row;
  }
  for (const auto& [address, row] : last) {
    if (row->group != kFreed) ++groups_[row->group].count;
  }
  const MemoryPeak& peak = result_.peak;
  std::uint64_t seen = peak.reserved_bytes;
  for (AllocationGroup& group : groups_) {
    if (group.count == 0) continue;
    seen += group.total_bytes();
    result_.at_peak.push_back(std::move(group));
  }
  // Of lost deallocations more is held than there is.
  result_.unseen_bytes = peak.bytes - std::min(peak.bytes, seen);
  std::sort(result_.at_peak.begin(), result_.at_peak.end(), [](const AllocationGroup& a, const AllocationGroup& b) {
    return std::tuple(b.total_bytes(), std::string_view(a.op_name), std::string_view(a.region_type),
                      std::string_view(a.data_type), std::string_view(a.shape), a.requested_bytes) <
           std::tuple(a.total_bytes(), std::string_view(b.op_name), std::string_view(b.region_type),
                      std::string_view(b.data_type), std::string_view(b.shape), b.requested_bytes);
  });
}

AllocatorProfile AllocatorRecorder::finish(std::string name, Picoseconds shift) {
  find_held_at_peak();
  result_.name = std::move(name);
  const std::uint64_t changes = result_.allocation_count + result_.deallocation_count;
  result_.mean_fragmentation = changes == 0 ? 0 : fragmentation_sum_ / static_cast<double>(changes);
  result_.timeline = timeline_.spans();
  result_.peak.time += shift;
  result_.peak.first_time += shift;
  for (MemorySpan& span : result_.timeline) {
    span.start += shift;
    span.end += shift;
  }
  return std::move(result_);
}

ArgumentGroups MemoryProfileBuilder::groups_of(std::string_view argument) const {
  constexpr std::array<std::string_view, 15> kArguments = {
      "allocator_name",    "index_on_host",   "device_ordinal",  "addr",  "bytes_allocated", "bytes_reserved",
      "bytes_available",   "fragmentation",   "tf_op",           "shape", "region_type",     "data_type",
      "peak_bytes_in_use", "requested_bytes", "allocation_bytes"};
  const bool is_one = std::find(kArguments.begin(), kArguments.end(), argument) != kArguments.end();
  return is_one ? kAllocation : ArgumentGroups{};
}

EventUse MemoryProfileBuilder::use_of(std::string_view name) {
  return name == kAllocationName || name == kDeallocationName ? EventUse{true, kAllocation} : EventUse{false, 0};
}

void MemoryProfileBuilder::take(const TraceEvent& event) {
  const bool is_allocation = event.name == kAllocationName;
  if (!is_allocation && event.name != kDeallocationName) return;
  const std::string name = allocator_of(event);
  const std::optional<std::uint64_t> address = whole_argument(event, "addr");
  const std::optional<AllocatorRecorder::State> state = state_after(event);
  if (name.empty() || !address || !state) {
    ++incomplete_events_;
    return;
  }
  const auto found = allocators_.find(name);
  AllocatorRecorder& recorder =
      found == allocators_.end() ? allocators_.try_emplace(name).first->second : found->second;
  recorder.change(event.start, *state);
  if (is_allocation) {
    recorder.allocate(event.start, *address, allocation_of(event));
  } else {
    recorder.free(event.start, *address, whole_argument(event, "allocation_bytes").value_or(0));
  }
}

MemoryProfile MemoryProfileBuilder::finish(Picoseconds shift) {
  MemoryProfile profile;
  profile.incomplete_events = incomplete_events_;
  for (auto& [name, recorder] : allocators_) profile.allocators.push_back(recorder.finish(name, shift));
  std::stable_sort(profile.allocators.begin(), profile.allocators.end(),
                   [](const AllocatorProfile& a, const AllocatorProfile& b) { return a.peak.bytes > b.peak.bytes; });
  allocators_.clear();
  return profile;
}

void MemoryTimeline::add(Picoseconds time, std::uint64_t bytes) {
  const MemorySpan change = {time, time, bytes, bytes};
  const auto [span, is_new] = spans_.try_emplace(rounded_down(time, width_), change);
  if (!is_new) merge_into(span->second, change);
  while (spans_.size() > kMostSpans) halve();
}

void MemoryTimeline::halve() {
  std::map<std::int64_t, MemorySpan> wider;
  width_ *= 2;
  for (const auto& [index, narrow] : spans_) {
    const auto [span, is_new] = wider.try_emplace(rounded_down(index, 2), narrow);
    if (!is_new) merge_into(span->second, narrow);
  }
  spans_ = std::move(wider);
}

std::vector<MemorySpan> MemoryTimeline::spans() const {
  std::vector<MemorySpan> spans;
  spans.reserve(spans_.size());
  for (const auto& [index, span] : spans_) spans.push_back(span);
  return spans;
}

}  // namespace doctor
