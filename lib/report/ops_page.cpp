#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

/// What an op cost on all hosts. Views into their profiles, where names may be long.
struct OpCost {
  std::string_view type;
  std::string_view name;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;
  Picoseconds self = 0;
  std::string_view framework_op;
  std::string_view source;
  double flops = 0;
  double bytes = 0;
};

/// What distinguishes rows: type, name and, of ops of XLA, the framework's op.
using OpKey = std::tuple<std::string_view, std::string_view, std::string_view>;

/// The ops of one side (hosts or devices) of all hosts.
struct Side {
  std::map<OpKey, OpCost> ops;
  Picoseconds time = 0;  ///< idle time included
  Picoseconds self = 0;
};

void add(const OpStatistics& op, OpGrouping by, Side& side) {
  const bool is_by_name = by == OpGrouping::name;
  const std::string_view name = is_by_name ? std::string_view(op.name) : std::string_view();
  const std::string_view framework_op = is_by_name ? std::string_view(op.framework_op) : std::string_view();
  OpCost& sum = side.ops[{op.type, name, framework_op}];
  sum.type = op.type;
  sum.name = name;
  sum.framework_op = framework_op;
  if (is_by_name) sum.source = op.source;
  sum.flops += op.flops;
  sum.bytes += op.bytes;
  sum.occurrences += op.occurrences;
  sum.total += op.total;
  sum.self += op.self;
  side.self += op.self;
}

/// Mean of `time` over `count`, rounded down to the picosecond.
Picoseconds average(Picoseconds time, std::uint64_t count) {
  return count == 0 ? 0 : time / static_cast<Picoseconds>(count);
}

/// What is known of ops of XLA alone. Empty or unknown of others.
void add_xla_cells(const OpCost& op, OpGrouping by, std::vector<Cell>& row) {
  if (by == OpGrouping::name) {
    row.emplace_back(std::string(op.framework_op));
    row.emplace_back(std::string(op.source));
  }
  for (const double number : {op.flops, op.bytes}) {
    row.emplace_back();
    if (number > 0) row.back() = static_cast<std::int64_t>(std::min(number, 9e18));
  }
}

void add_rows(const Side& side, std::string_view where, const OpsChoice& choice, bool has_xla, DataTable& table) {
  std::vector<OpCost> ops;
  ops.reserve(side.ops.size() + 1);
  for (const auto& [key, op] : side.ops) ops.push_back(op);
  if (choice.with_idle && side.time > side.self) {
    const Picoseconds idle = side.time - side.self;
    OpCost& cost = ops.emplace_back();
    cost.type = "IDLE";
    if (choice.by == OpGrouping::name) cost.name = "IDLE";
    cost.total = cost.self = idle;
  }
  std::ranges::stable_sort(ops, [](const auto& a, const auto& b) { return a.self > b.self; });
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
    if (has_xla) add_xla_cells(op, choice.by, row);
    table.rows.push_back(std::move(row));
  }
}

/// Whether any op has what only ops of XLA have: on other devices and hosts there are no columns for it.
bool has_xla_ops(const Measurements& measurements) {
  return std::ranges::any_of(measurements.hosts, [](const HostMeasurement& host) {
    return host.profile && std::ranges::any_of(host.profile->ops.ops, [](const OpStatistics& op) {
             return !op.framework_op.empty() || op.flops > 0 || op.bytes > 0;
           });
  });
}

Result<PageRows> ops_rows(const PageInput& input) {
  const OpGrouping by = input.options.by_type ? OpGrouping::type : OpGrouping::name;
  return chosen_rows(input.options, {ops_table(input.measurements, {.by = by, .with_idle = input.options.with_idle})});
}

}  // namespace

constinit const Page kOpsPage = {.name = "ops",
                                 .summary = "every op on host and device: occurrences, total and self time",
                                 .is_drawn = true,
                                 .needs_tf_data = false,
                                 .needs = [](const ShowOptions&) -> TraceNeeds {
                                   return {.element_types = true,
                                           .profile = ProfileParts{.host = false, .memory = false}};
                                 },
                                 .rows = ops_rows,
                                 .schema = "tfdata-doctor.ops/1"};

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
  const bool has_xla = has_xla_ops(measurements);
  if (has_xla && choice.by == OpGrouping::name) {
    table.columns.push_back({"framework_op", "framework's op", ColumnKind::text, false, 1});
    table.columns.push_back({"source", "source", ColumnKind::text, false, 2});
  }
  if (has_xla) {
    table.columns.push_back({"flops", "flops", ColumnKind::count, false, 5});
    table.columns.push_back({"bytes_accessed", "bytes", ColumnKind::count, false, 5});
  }
  add_rows(device, "device", choice, has_xla, table);
  add_rows(host, "host", choice, has_xla, table);
  return table;
}

}  // namespace doctor
