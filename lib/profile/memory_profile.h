#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// A part of the window in which the memory in use changed.
struct MemorySpan {
  Picoseconds start = 0;         ///< time of the first change in it
  Picoseconds end = 0;           ///< time of the last change
  std::uint64_t most_bytes = 0;  ///< the maximum in use after any of the changes
  std::uint64_t last_bytes = 0;  ///< in use after the last change, and until the next span

  friend bool operator==(const MemorySpan&, const MemorySpan&) = default;
};

/// The memory in use over time. Changes come in any order, which does not matter. Above kMostSpans spans, pairs of
/// neighbours are joined, so a peak is never lost.
class MemoryTimeline {
 public:
  static constexpr std::size_t kMostSpans = 1024;

  void add(Picoseconds time, std::uint64_t bytes);

  /// The spans in order of time.
  std::vector<MemorySpan> spans() const;

 private:
  void halve();

  Picoseconds width_ = kPicosecondsPerNanosecond;
  std::map<std::int64_t, MemorySpan> spans_;  ///< by time divided by the width, rounded down
};

/// Allocations of one kind that are held at the same time. Properties that the trace does not have are empty.
struct AllocationGroup {
  std::string op_name;                 ///< that allocated: "model/dense/MatMul"
  std::string region_type;             ///< "output", "temp", "persist", "dynamic"
  std::string data_type;               ///< "float"
  std::string shape;                   ///< "[128,32]"
  std::uint64_t requested_bytes = 0;   ///< of each allocation
  std::uint64_t allocation_bytes = 0;  ///< of each allocation, with the allocator's rounding
  std::uint64_t count = 0;

  std::uint64_t total_bytes() const { return count * allocation_bytes; }
};

/// The moment with the most memory in use. If it is reached several times, the latest one counts, because the window
/// shows most of what is held then.
struct MemoryPeak {
  std::uint64_t bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< of these: not for tensors ("stack")
  std::uint64_t free_bytes = 0;
  double fragmentation = 0;    ///< the share of the free memory that is not in its largest piece, 0..1
  Picoseconds time = 0;        ///< on the clock of the Trace, like all times below
  Picoseconds first_time = 0;  ///< when that much was first in use
  std::uint64_t count = 0;     ///< number of changes that left that much in use

  std::uint64_t capacity() const { return bytes + free_bytes; }
};

/// The allocations and deallocations of one allocator of a host in the window.
struct AllocatorProfile {
  std::string name;  ///< "GPU_0_bfc", "gpu_host_bfc"
  std::uint64_t allocation_count = 0;
  std::uint64_t deallocation_count = 0;
  MemoryPeak peak;
  std::uint64_t lifetime_peak_bytes = 0;  ///< since the job began
  double mean_fragmentation = 0;          ///< over the changes
  double max_fragmentation = 0;
  std::vector<MemorySpan> timeline;

  std::vector<AllocationGroup> at_peak;  ///< held at the peak, most bytes first
  /// Bytes in use at the peak whose allocation was not seen: mostly from before the window, such as weights.
  std::uint64_t unseen_bytes = 0;
  /// The size below which allocations are part of `unseen_bytes`, because the trace has too many; 0: none are.
  std::uint64_t least_followed_bytes = 0;
};

/// The memory of a host's allocators, from TensorFlow's events MemoryAllocation and MemoryDeallocation. Their meaning
/// is that of ConvertXPlaneToMemoryProfile() of xprof/convert/xplane_to_memory_profile.cc.
struct MemoryProfile {
  std::vector<AllocatorProfile> allocators;  ///< largest peak first, then by name
  std::uint64_t incomplete_events = 0;       ///< events without an allocator, an address or the bytes in use: left out
};

/// Gathers the activity of one allocator. Events come in any order, because threads are read one after another. So the
/// content at the peak is known only at the end, and each event takes a row. Above kMostRows, the rows of the smallest
/// half of the allocations are dropped for good.
class AllocatorRecorder {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 19;

  /// The state that the allocator reports after a change.
  struct State {
    std::uint64_t bytes_in_use = 0;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t free_bytes = 0;
    std::uint64_t lifetime_peak_bytes = 0;
    double fragmentation = 0;
  };

  void change(Picoseconds time, const State& state);
  void allocate(Picoseconds time, std::uint64_t address, const AllocationGroup& allocation);
  void free(Picoseconds time, std::uint64_t address, std::uint64_t bytes);

  /// `shift` is added to all times.
  AllocatorProfile finish(std::string name, Picoseconds shift);

 private:
  static constexpr std::uint32_t kFreed = 0xffff'ffff;

  struct Row {
    Picoseconds time = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t group = kFreed;  ///< index into groups_
  };

  /// The key that distinguishes groups.
  using GroupKey = std::tuple<std::string, std::string, std::string, std::string, std::uint64_t, std::uint64_t>;

  std::uint32_t group_of(const AllocationGroup& allocation);
  void add_row(const Row& row);
  void find_held_at_peak();

  AllocatorProfile result_;
  double fragmentation_sum_ = 0;
  MemoryTimeline timeline_;
  std::map<GroupKey, std::uint32_t> group_ids_;
  std::vector<AllocationGroup> groups_;
  std::vector<Row> rows_;
};

/// Gathers the profiles of all allocators of a host.
class MemoryProfileBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  EventUse use_of(std::string_view name) override;

  /// `shift` is added to all times.
  MemoryProfile finish(Picoseconds shift);

 private:
  std::map<std::string, AllocatorRecorder, std::less<>> allocators_;
  std::uint64_t incomplete_events_ = 0;
};

}  // namespace doctor
