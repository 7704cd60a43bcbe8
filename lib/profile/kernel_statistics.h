#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "profile/gpu_event.h"
#include "trace/event_reader.h"

namespace doctor {

/// All runs of one kernel that was launched in one way for one op.
struct KernelRow {
  std::string kernel_name;
  std::string op_name;  ///< empty if the trace does not say
  LaunchParameters launch;
  bool is_op_tensor_core_eligible = false;
  bool uses_tensor_cores = false;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;
  Picoseconds min = 0;
  Picoseconds max = 0;

  double average() const { return static_cast<double>(total) / static_cast<double>(occurrences); }
};

/// Adds up the kernels of all devices of a host, or of a run.
class KernelStatistics {
 public:
  /// Adds a run. Runs shorter than a nanosecond do not count, as in XProf: they were not recorded.
  void add(const TraceEvent& event, const GpuEvent& kernel);

  /// Adds a row of another host.
  void add(const KernelRow& row);

  /// The rows, most total time first, then by names and launch parameters. Empty afterwards.
  std::vector<KernelRow> take();

 private:
  /// The key that distinguishes rows.
  using Key = std::tuple<std::string, std::string, Dimensions, Dimensions, std::uint32_t, std::uint32_t, std::uint32_t,
                         bool, bool>;

  std::map<Key, KernelRow> rows_;
};

}  // namespace doctor
