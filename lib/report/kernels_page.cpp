#include "diagnose/loaders.h"
#include "profile/device_profile.h"
#include "report/json_values.h"
#include "report/page.h"

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

/// Every kernel that ran on a GPU, apart by how it was launched and for which op, all devices and hosts together. Most
/// total time first.
DataTable kernels_table(const Measurements& measurements) {
  std::int64_t rank = 0;
  const std::vector<Field<KernelRow>> fields = {
      {{"rank", "#", ColumnKind::rank}, [&](const auto&) { return ++rank; }},
      {{"kernel_name", "kernel", ColumnKind::text}, &KernelRow::kernel_name},
      {{"registers_per_thread", "registers", ColumnKind::count, true, 6},
       [](const auto& row) { return count_cell(row.launch.registers_per_thread); }},
      {{"shared_memory_bytes", "shared", ColumnKind::count, true, 6},
       [](const auto& row) { return count_cell(row.launch.shared_bytes()); }},
      {{"block", "block", ColumnKind::text, false, 5}, [](const auto& row) { return in_words(row.launch.block); }},
      {{"grid", "grid", ColumnKind::text, false, 5}, [](const auto& row) { return in_words(row.launch.grid); }},
      {{"occupancy_percent", "occupancy", ColumnKind::number, true, 4},
       [](const auto& row) { return cell_or_unknown(row.launch.occupancy_percent); }},
      {{"op_tensor_core_eligible", "eligible", ColumnKind::flag, false, 2}, &KernelRow::is_op_tensor_core_eligible},
      {{"kernel_uses_tensor_core", "TensorCore", ColumnKind::flag, false, 1}, &KernelRow::uses_tensor_cores},
      {{"op_name", "op", ColumnKind::text, false, 1}, &KernelRow::op_name},
      {{"occurrences", "times", ColumnKind::count}, [](const auto& row) { return count_cell(row.occurrences); }},
      {{"total_us", "total", ColumnKind::time}, &KernelRow::total},
      {{"average_us", "average", ColumnKind::time, false, 3},
       [](const auto& row) { return row.total / static_cast<Picoseconds>(row.occurrences); }},
      {{"min_us", "min", ColumnKind::time, false, 4}, &KernelRow::min},
      {{"max_us", "max", ColumnKind::time, false, 4}, &KernelRow::max}};
  return table_of(fields, kernels_of(measurements));
}

/// Why the table is empty; empty if it is not.
std::string kernels_note(const Measurements& measurements) {
  const auto any = [&](auto holds) { return std::ranges::any_of(measurements.hosts, holds); };
  if (any([](const HostMeasurement& host) { return !host.device_profile.kernels.empty(); })) return {};
  const auto runs_ops = [](const HostMeasurement& host) {
    return std::ranges::any_of(host.device_profile.devices,
                               [](const DeviceActivity& device) { return device.kernel_count > 0; });
  };
  if (is_of_torch(measurements)) return "The devices of a PyTorch trace are not read.";
  if (any(runs_ops)) return "The devices run ops of XLA and no kernels: tfdata-doctor show ops.";
  return any([](const HostMeasurement& host) { return !host.devices.empty(); })
             ? "The trace names devices, but shows no kernel on them (tfdata-doctor explain devices-not-recorded)."
             : "The trace shows no device.";
}

Result<PageRows> kernels_rows(const PageInput& input) {
  return chosen_rows(input.options, {kernels_table(input.measurements), kernels_note(input.measurements)});
}

}  // namespace

constinit const Page kKernelsPage = {
    .name = "kernels",
    .summary = "every kernel on the GPUs: how it was launched, for which op, and its time",
    .is_drawn = true,
    .rows = kernels_rows,
    .schema = "tfdata-doctor.kernels/1"};

}  // namespace doctor
