#include "diagnose/pipelines.h"
#include "measure/step_table.h"
#include "report/json_values.h"
#include "report/show_pages.h"

namespace doctor {
namespace {

/// The pipeline by which a host was compared, else the worst of those that its consumers wait for; null without one.
const PipelineView* worst_of(const ComparedHost& host, const std::vector<PipelineView>& views) {
  if (host.judgement) return &views[*host.judgement];
  const auto found = std::ranges::find_if(views, [&](const PipelineView& view) {
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

/// A host with what its row shows.
struct HostRow {
  const ComparedHost& compared;
  const HostMeasurement& host;
  const PipelineView* worst;
  StepSummary steps;
  std::string_view status;

  bool has_culprit() const { return worst != nullptr && names_culprit(worst->judgement); }
};

}  // namespace

DataTable hosts_table(const Measurements& measurements, const Diagnosis& diagnosis) {
  static const std::vector<Field<HostRow>> fields = {
      {{key::host, "host", ColumnKind::text}, [](const auto& row) { return row.compared.name; }},
      {{key::input_share, "waits", ColumnKind::share},
       [](const auto& row) { return row.worst != nullptr ? cell_or_unknown(input_share_of(*row.worst)) : Cell(); }},
      {{key::waited_us, "in all", ColumnKind::time, false, 4},
       [](const auto& row) { return row.worst != nullptr ? Cell(row.worst->pipeline.total) : Cell(); }},
      {{key::mean_wait_us, "mean", ColumnKind::time, false, 3},
       [](const auto& row) { return row.compared.judgement ? Cell(row.compared.mean_wait) : Cell(); }},
      {{key::get_next_calls, "calls", ColumnKind::count, false, 5},
       [](const auto& row) { return row.worst != nullptr ? count_cell(row.worst->pipeline.calls.size()) : Cell(); }},
      {{key::step_us, "step", ColumnKind::time, false, 1},
       [](const auto& row) { return row.steps.count > 0 ? count_cell(row.steps.average) : Cell(); }},
      {{key::steps, "steps", ColumnKind::count, false, 6}, [](const auto& row) { return count_cell(row.steps.count); }},
      {{key::device_idle_share, "device idle", ColumnKind::share, true, 2},
       [](const auto& row) { return cell_or_unknown(device_idle_share(row.host.device_profile)); }},
      {{key::devices, "devices", ColumnKind::count, true, 6},
       [](const auto& row) { return count_cell(row.host.devices.size()); }},
      {{key::status, "compared", ColumnKind::text}, [](const auto& row) { return std::string(row.status); }},
      {{key::culprit, "culprit", ColumnKind::text},
       [](const auto& row) {
         if (!row.has_culprit()) return Cell();
         return Cell(describe_culprit(row.worst->host, row.worst->pipeline, row.worst->judgement));
       }},
      {{key::culprit_long_name, "iterator", ColumnKind::text, false, 8},
       [](const auto& row) { return row.has_culprit() ? Cell(row.worst->culprit().long_name) : Cell(); }},
      {{key::confidence, "confidence", ColumnKind::number, false, 7},
       [](const auto& row) { return row.worst != nullptr ? Cell(row.worst->judgement.confidence.total()) : Cell(); }}};
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  std::vector<HostRow> rows;
  for (const ComparedHost& compared : diagnosis.hosts.hosts) {
    const HostMeasurement& host = measurements.hosts[compared.host];
    rows.push_back({compared, host, worst_of(compared, views), summarize_steps({&host.steps, 1}),
                    status_of(compared, diagnosis.hosts)});
  }
  return table_of(fields, rows);
}

DataTable core_waits_table(const std::vector<StepOnCores>& steps) {
  static const std::vector<Field<StepOnCores>> fields = {
      {{key::step, "step", ColumnKind::rank}, &StepOnCores::number},
      {{key::cores, "cores", ColumnKind::count, false, 3},
       [](const auto& step) { return count_cell(step.core_count); }},
      {{key::duration_min_us, "shortest", ColumnKind::time, false, 1},
       [](const auto& step) { return step.duration.least; }},
      {{key::duration_average_us, "average", ColumnKind::time, false, 2},
       [](const auto& step) { return count_cell(step.duration.mean); }},
      {{key::duration_max_us, "longest", ColumnKind::time, false, 1},
       [](const auto& step) { return step.duration.most; }},
      {{key::input_min_us, "least input", ColumnKind::time}, [](const auto& step) { return step.input.least; }},
      {{key::input_average_us, "average", ColumnKind::time},
       [](const auto& step) { return count_cell(step.input.mean); }},
      {{key::input_max_us, "most input", ColumnKind::time}, [](const auto& step) { return step.input.most; }},
      {{key::most_input_on, "on", ColumnKind::text, false, 4}, &StepOnCores::longest_waiting},
      {{key::counted, "counted", ColumnKind::flag, false, 5}, [](const auto& step) { return !step.is_boundary; }}};
  return table_of(fields, steps);
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
  OrderedJson page = begun_page("tfdata-doctor.hosts/1");
  page[key::comparison] = text_or_null(describe_comparison(diagnosis.hosts));
  page[key::rows] = table_json(hosts);
  page[key::steps] = table_json(core_waits);
  return page;
}

}  // namespace doctor
