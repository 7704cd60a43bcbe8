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
  /// Runs that take no whole nanosecond are not counted, as in XProf: they were not recorded.
  void add(const TraceEvent& event, const GpuEvent& kernel);

  /// Adds rows of another host.
  void add(const KernelRow& row);

  /// The rows, most total time first; of rows alike, by their names and how they were launched. Empty afterwards.
  std::vector<KernelRow> take();

 private:
  /// What distinguishes rows.
  using Key = std::tuple<std::string, std::string, Dimensions, Dimensions, std::uint32_t, std::uint32_t, std::uint32_t,
                         bool, bool>;

  std::map<Key, KernelRow> rows_;
};

}  // namespace doctor
