#include <algorithm>
#include <optional>
#include <vector>

#include "diagnose/pipelines.h"
#include "measure/step_table.h"
#include "report/selection.h"
#include "report/show_pages.h"
#include "text/document_keys.h"

namespace doctor {
namespace {

/// The pipeline by which a host was compared, else the worst of those that its consumers wait for; null without one.
const PipelineView* worst_of(const ComparedHost& host, const std::vector<PipelineView>& views) {
  if (host.judgement) return &views[*host.judgement];
  const auto found = std::find_if(views.begin(), views.end(), [&](const PipelineView& view) {
    return view.judgement.host == host.host && !view.pipeline.feeds_another;
  });
  return found == views.end() ? nullptr : &*found;
}

/// Of the time from the first event of each device to its last; nullopt where the trace does not show it.
std::optional<double> device_idle_share(const DeviceProfile& profile) {
  Picoseconds idle = 0;
  Picoseconds length = 0;
  for (const DeviceActivity& device : profile.devices) {
    if (device.kernel_count == 0) continue;
    idle += device.idle();
    length += device.length();
  }
  if (!profile.is_aligned || length <= 0) return std::nullopt;
  return static_cast<double>(idle) / static_cast<double>(length);
}

std::string_view status_of(const ComparedHost& host, const HostComparison& comparison) {
  if (!comparison.is_possible() || !host.judgement) return "not_compared";
  return host.is_straggler ? "straggler" : "alike";
}

template <typename Value>
Cell cell_or_unknown(const std::optional<Value>& value) {
  return value ? Cell(*value) : Cell();
}

void add_wait(const ComparedHost& host, const PipelineView* worst, std::vector<Cell>& row) {
  row.emplace_back(worst != nullptr ? cell_or_unknown(input_share_of(*worst)) : Cell());
  row.emplace_back(worst != nullptr ? Cell(worst->pipeline.total) : Cell());
  row.emplace_back(host.judgement ? Cell(host.mean_wait) : Cell());
  row.emplace_back(worst != nullptr ? Cell(static_cast<std::int64_t>(worst->pipeline.calls.size())) : Cell());
}

void add_steps(const HostMeasurement& host, std::vector<Cell>& row) {
  const StepSummary steps = summarize_steps({&host.steps, 1});
  row.emplace_back(steps.count > 0 ? Cell(static_cast<Picoseconds>(steps.average)) : Cell());
  row.emplace_back(static_cast<std::int64_t>(steps.count));
}

void add_culprit(const PipelineView* worst, std::vector<Cell>& row) {
  const bool has_culprit = worst != nullptr && names_culprit(worst->judgement);
  row.emplace_back(has_culprit ? Cell(describe_culprit(worst->host, worst->pipeline, worst->judgement)) : Cell());
  row.emplace_back(has_culprit ? Cell(worst->culprit().long_name) : Cell());
}

}  // namespace

DataTable hosts_table(const Measurements& measurements, const Diagnosis& diagnosis) {
  DataTable table;
  table.columns = {{key::host, "host", ColumnKind::text},
                   {key::input_share, "waits", ColumnKind::share},
                   {key::waited_us, "in all", ColumnKind::time, false, 4},
                   {key::mean_wait_us, "mean", ColumnKind::time, false, 3},
                   {key::get_next_calls, "calls", ColumnKind::count, false, 5},
                   {key::step_us, "step", ColumnKind::time, false, 1},
                   {key::steps, "steps", ColumnKind::count, false, 6},
                   {key::device_idle_share, "device idle", ColumnKind::share, true, 2},
                   {key::devices, "devices", ColumnKind::count, true, 6},
                   {key::status, "compared", ColumnKind::text},
                   {key::culprit, "culprit", ColumnKind::text},
                   {key::culprit_long_name, "iterator", ColumnKind::text, false, 8},
                   {key::confidence, "confidence", ColumnKind::number, false, 7}};
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  for (const ComparedHost& compared : diagnosis.hosts.hosts) {
    const HostMeasurement& host = measurements.hosts[compared.host];
    const PipelineView* const worst = worst_of(compared, views);
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(compared.name);
    add_wait(compared, worst, row);
    add_steps(host, row);
    row.push_back(cell_or_unknown(device_idle_share(host.device_profile)));
    row.emplace_back(static_cast<std::int64_t>(host.devices.size()));
    row.emplace_back(std::string(status_of(compared, diagnosis.hosts)));
    add_culprit(worst, row);
    row.push_back(worst != nullptr ? Cell(worst->judgement.confidence.total()) : Cell());
  }
  return table;
}

DataTable core_waits_table(const std::vector<StepOnCores>& steps) {
  DataTable table;
  table.columns = {{key::step, "step", ColumnKind::rank},
                   {key::cores, "cores", ColumnKind::count, false, 3},
                   {key::duration_min_us, "shortest", ColumnKind::time, false, 1},
                   {key::duration_average_us, "average", ColumnKind::time, false, 2},
                   {key::duration_max_us, "longest", ColumnKind::time, false, 1},
                   {key::input_min_us, "least input", ColumnKind::time},
                   {key::input_average_us, "average", ColumnKind::time},
                   {key::input_max_us, "most input", ColumnKind::time},
                   {key::most_input_on, "on", ColumnKind::text, false, 4},
                   {key::counted, "counted", ColumnKind::flag, false, 5}};
  for (const StepOnCores& step : steps) {
    table.rows.push_back({step.number, static_cast<std::int64_t>(step.core_count), step.duration.least,
                          static_cast<Picoseconds>(step.duration.mean), step.duration.most, step.input.least,
                          static_cast<Picoseconds>(step.input.mean), step.input.most, step.longest_waiting,
                          !step.is_boundary});
  }
  return table;
}

std::vector<StepOnCores> steps_in_common(const Measurements& measurements, const Diagnosis& diagnosis) {
  if (diagnosis.hosts.are_windows) return {};
  return measure_steps_on_cores(measurements);
}

std::string core_waits_note(const std::vector<StepOnCores>& steps) {
  if (steps.empty()) return "no steps in common: of one run and with markers that number them";
  return "each step on all its cores: the hosts, and where a host has several devices at work, these";
}

OrderedJson hosts_json(const DataTable& hosts, const DataTable& core_waits, const Diagnosis& diagnosis) {
  OrderedJson page = {{key::schema, "tfdata-doctor.hosts/1"}, {key::tool, tool_json()}};
  page[key::comparison] = text_or_null(describe_comparison(diagnosis.hosts));
  page[key::rows] = table_json(hosts);
  page[key::steps] = table_json(core_waits);
  return page;
}

}  // namespace doctor
