#include "profile/kernel_statistics.h"

#include <algorithm>
#include <utility>

namespace doctor {

void KernelStatistics::add(const TraceEvent& event, const GpuEvent& kernel) {
  if (event.duration < kPicosecondsPerNanosecond) return;
  KernelRow row;
  row.kernel_name = kernel.name;
  row.op_name = kernel.op_name;
  row.launch = kernel.launch;
  row.is_op_tensor_core_eligible = kernel.is_op_tensor_core_eligible;
  row.uses_tensor_cores = kernel.uses_tensor_cores;
  row.occurrences = 1;
  row.total = row.min = row.max = event.duration;
  add(row);
}

void KernelStatistics::add(const KernelRow& row) {
  const LaunchParameters& launch = row.launch;
  const auto [found, is_new] =
      rows_.try_emplace(Key{row.kernel_name, row.op_name, launch.grid, launch.block, launch.registers_per_thread,
                            launch.static_shared_bytes, launch.dynamic_shared_bytes, row.uses_tensor_cores,
                            row.is_op_tensor_core_eligible},
                        row);
  if (is_new) return;
  KernelRow& sum = found->second;
  sum.occurrences += row.occurrences;
  sum.total += row.total;
  sum.min = std::min(sum.min, row.min);
  sum.max = std::max(sum.max, row.max);
}

std::vector<KernelRow> KernelStatistics::take() {
  std::vector<KernelRow> rows;
  rows.reserve(rows_.size());
  for (auto& [key, row] : rows_) rows.push_back(std::move(row));
  rows_.clear();
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace doctor
