#include "report/ops_page.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace doctor {
namespace {

/// What an op cost on all hosts. Views into their profiles, where names may be long.
struct OpCost {
  std::string_view type;
  std::string_view name;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;
  Picoseconds self = 0;
};

/// The ops of one side (hosts or devices) of all hosts.
struct Side {
  std::map<std::pair<std::string_view, std::string_view>, OpCost> ops;  ///< by type and name
  Picoseconds time = 0;                                                 ///< idle time included
  Picoseconds self = 0;
};

void add(const OpStatistics& op, OpGrouping by, Side& side) {
  const std::string_view name = by == OpGrouping::name ? std::string_view(op.name) : std::string_view();
  OpCost& sum = side.ops[{op.type, name}];
  sum.type = op.type;
  sum.name = name;
  sum.occurrences += op.occurrences;
  sum.total += op.total;
  sum.self += op.self;
  side.self += op.self;
}

/// Mean of `time` over `count`, rounded down to the picosecond.
Picoseconds average(Picoseconds time, std::uint64_t count) {
  return count == 0 ? 0 : time / static_cast<Picoseconds>(count);
}

void add_rows(const Side& side, std::string_view where, const OpsChoice& choice, DataTable& table) {
  std::vector<OpCost> ops;
  ops.reserve(side.ops.size() + 1);
  for (const auto& [key, op] : side.ops) ops.push_back(op);
  if (choice.with_idle && side.time > side.self) {
    const Picoseconds idle = side.time - side.self;
    ops.push_back({"IDLE", choice.by == OpGrouping::name ? "IDLE" : "", 0, idle, idle});
  }
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.self > b.self; });
  const auto whole =
      static_cast<double>(std::max<Picoseconds>(choice.with_idle ? std::max(side.time, side.self) : side.self, 1));
  Picoseconds so_far = 0;
  for (const OpCost& op : ops) {
    so_far += op.self;
    std::vector<Cell> row = {static_cast<std::int64_t>(table.rows.size()) + 1, std::string(where),
                             std::string(op.type)};
    row.reserve(table.columns.size());
    if (choice.by == OpGrouping::name) row.emplace_back(std::string(op.name));
    row.insert(row.end(), {static_cast<std::int64_t>(op.occurrences), op.total, average(op.total, op.occurrences),
                           op.self, average(op.self, op.occurrences), static_cast<double>(op.self) / whole,
                           static_cast<double>(so_far) / whole});
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

DataTable ops_table(const Measurements& measurements, const OpsChoice& choice) {
  Side host;
  Side device;
  for (const HostMeasurement& measured : measurements.hosts) {
    if (!measured.profile) continue;
    const OpTable& ops = measured.profile->ops;
    for (const OpStatistics& op : ops.ops) {
      if (choice.with_iterators || op.type != "Dataset") add(op, choice.by, op.is_on_device ? device : host);
    }
    host.time += ops.host_time;
    device.time += ops.device_time;
  }
  DataTable table;
  table.columns = {{"rank", "#", ColumnKind::rank},
                   {"host_or_device", "on", ColumnKind::text},
                   {"type", "type", ColumnKind::text, false, 2}};
  if (choice.by == OpGrouping::name) table.columns.push_back({"name", "name", ColumnKind::text});
  table.columns.insert(table.columns.end(), {{"occurrences", "times", ColumnKind::count},
                                             {"total_us", "total", ColumnKind::time, false, 1},
                                             {"average_us", "average", ColumnKind::time, false, 3},
                                             {"self_us", "self", ColumnKind::time},
                                             {"average_self_us", "average self", ColumnKind::time, false, 4},
                                             {"self_share", "share", ColumnKind::share},
                                             {"cumulative_self_share", "so far", ColumnKind::share, false, 2}});
  add_rows(device, "device", choice, table);
  add_rows(host, "host", choice, table);
  return table;
}

}  // namespace doctor
