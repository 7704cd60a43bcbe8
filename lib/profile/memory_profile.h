#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "profile/memory_timeline.h"
#include "trace/event_reader.h"

namespace doctor {

/// Allocations of one kind that are held at the same time. What the trace does not say is empty.
struct AllocationGroup {
  std::string op_name;                 ///< that allocated: "model/dense/MatMul"
  std::string region_type;             ///< "output", "temp", "persist", "dynamic"
  std::string data_type;               ///< "float"
  std::string shape;                   ///< "[128,32]"
  std::uint64_t requested_bytes = 0;   ///< each
  std::uint64_t allocation_bytes = 0;  ///< each: with what the allocator rounds up to
  std::uint64_t count = 0;

  std::uint64_t total_bytes() const { return count * allocation_bytes; }
};

/// The moment with the most memory in use. Where it is as much at several moments, the latest: of what is held then,
/// the window shows the most.
struct MemoryPeak {
  std::uint64_t bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< of these: not for tensors ("stack")
  std::uint64_t free_bytes = 0;
  double fragmentation = 0;    ///< 0..1: of the free memory, what is not in its largest piece
  Picoseconds time = 0;        ///< on the clock of the Trace, likewise below
  Picoseconds first_time = 0;  ///< when that much was in use first
  std::uint64_t count = 0;     ///< changes that left so much in use

  std::uint64_t capacity() const { return bytes + free_bytes; }
};

/// What an allocator of a host gave and took back in the window.
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
  /// In use at the peak, but nobody was seen to allocate it: mostly since before the window, like the weights.
  std::uint64_t unseen_bytes = 0;
  /// Smaller allocations are in `unseen_bytes`, because the trace has too many; 0: none are.
  std::uint64_t least_followed_bytes = 0;
};

/// The memory of a host's allocators, as TensorFlow's events MemoryAllocation and MemoryDeallocation tell. What an
/// event means is as in ConvertXPlaneToMemoryProfile() of xprof/convert/xplane_to_memory_profile.cc.
struct MemoryProfile {
  std::vector<AllocatorProfile> allocators;  ///< largest peak first, of equals by name
  std::uint64_t incomplete_events = 0;       ///< without an allocator, an address or the bytes in use: left out
};

/// Gathers what one allocator does. Events come in any order: threads are read one after another. So what is held at
/// the peak is known at the end only, and each event takes a row; above kMostRows, those of the smallest half are
/// dropped and not followed any more.
class AllocatorRecorder {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 19;

  /// What the allocator says of itself after a change.
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
    std::uint32_t group = kFreed;  ///< into groups_
  };

  /// What distinguishes groups.
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

/// Gathers it for all allocators of a host.
class MemoryProfileBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  EventUse use_of(std::string_view name) const override;

  /// `shift` is added to all times.
  MemoryProfile finish(Picoseconds shift);

 private:
  std::map<std::string, AllocatorRecorder, std::less<>> allocators_;
  std::uint64_t incomplete_events_ = 0;
};

}  // namespace doctor
