#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "profile/kernel_statistics.h"
#include "report/show_pages.h"

namespace doctor {
namespace {

std::vector<KernelRow> kernels_of(const Measurements& measurements) {
  KernelStatistics statistics;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const KernelRow& row : host.device_profile.kernels) statistics.add(row);
  }
  return statistics.take();
}

std::string in_words(const Dimensions& dimensions) {
  return fmt::format("{},{},{}", dimensions[0], dimensions[1], dimensions[2]);
}

}  // namespace

DataTable kernels_table(const Measurements& measurements) {
  DataTable table;
  table.columns = {{"rank", "#", ColumnKind::rank},
                   {"kernel_name", "kernel", ColumnKind::text},
                   {"registers_per_thread", "registers", ColumnKind::count, true, 6},
                   {"shared_memory_bytes", "shared", ColumnKind::count, true, 6},
                   {"block", "block", ColumnKind::text, false, 5},
                   {"grid", "grid", ColumnKind::text, false, 5},
                   {"occupancy_percent", "occupancy", ColumnKind::number, true, 4},
                   {"op_tensor_core_eligible", "eligible", ColumnKind::flag, false, 2},
                   {"kernel_uses_tensor_core", "TensorCore", ColumnKind::flag, false, 1},
                   {"op_name", "op", ColumnKind::text, false, 1},
                   {"occurrences", "times", ColumnKind::count},
                   {"total_us", "total", ColumnKind::time},
                   {"average_us", "average", ColumnKind::time, false, 3},
                   {"min_us", "min", ColumnKind::time, false, 4},
                   {"max_us", "max", ColumnKind::time, false, 4}};
  for (const KernelRow& row : kernels_of(measurements)) {
    const LaunchParameters& launch = row.launch;
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {static_cast<std::int64_t>(table.rows.size()),
             row.kernel_name,
             static_cast<std::int64_t>(launch.registers_per_thread),
             static_cast<std::int64_t>(launch.shared_bytes()),
             in_words(launch.block),
             in_words(launch.grid)};
    cells.emplace_back();
    if (launch.occupancy_percent) cells.back() = *launch.occupancy_percent;
    cells.insert(cells.end(), {row.is_op_tensor_core_eligible, row.uses_tensor_cores, row.op_name,
                               static_cast<std::int64_t>(row.occurrences), row.total,
                               row.total / static_cast<Picoseconds>(row.occurrences), row.min, row.max});
  }
  return table;
}

std::string kernels_note(const Measurements& measurements) {
  const auto any = [&](auto holds) { return std::any_of(measurements.hosts.begin(), measurements.hosts.end(), holds); };
  if (any([](const HostMeasurement& host) { return !host.device_profile.kernels.empty(); })) return {};
  const auto runs_ops = [](const HostMeasurement& host) {
    return std::any_of(host.device_profile.devices.begin(), host.device_profile.devices.end(),
                       [](const DeviceActivity& device) { return device.kernel_count > 0; });
  };
  if (any(runs_ops)) return "The devices run ops of XLA and no kernels: tfdata-doctor show ops.";
  return any([](const HostMeasurement& host) { return !host.devices.empty(); })
             ? "The trace names devices, but shows no kernel on them (tfdata-doctor explain devices-not-recorded)."
             : "The trace shows no device.";
}

}  // namespace doctor
