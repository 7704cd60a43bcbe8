#include "measure/devices/device_balance.h"
#include "report/json_values.h"
#include "report/page.h"

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

/// A row for each host, the one that waits most first.
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
         return Cell(describe_culprit(*row.worst));
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

/// A row for each step: the least, the mean and the most over its cores of the time that it takes and of the wait for
/// input within it, as in the device-side details of the profiler's input-pipeline analyzer.
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

/// The steps of the run on its cores; none of windows of one host, which number other steps alike.
std::vector<StepOnCores> steps_in_common(const PageInput& input) {
  if (input.diagnosis.hosts.are_windows) return {};
  return measure_steps_on_cores(input.measurements);
}

/// What the cores of that table are; why it has no rows, if so.
std::string core_waits_note(const std::vector<StepOnCores>& steps) {
  if (steps.empty()) return "no steps in common: of one run and with markers that number them";
  return "each step on all its cores: the hosts, and where a host has several devices at work, these";
}

Result<PageRows> hosts_rows(const PageInput& input) {
  if (!input.options.by_step) {
    return chosen_rows(input.options,
                       {hosts_table(input.measurements, input.diagnosis), describe_comparison(input.diagnosis.hosts)});
  }
  const std::vector<StepOnCores> steps = steps_in_common(input);
  return chosen_rows(input.options, {core_waits_table(steps), core_waits_note(steps)});
}

/// The waits of cores below the hosts: what those are sorted by is a column of theirs.
PageRows waits_below_hosts(const PageInput& input) {
  ShowOptions options = input.options;
  options.by_step = true;
  options.sort.reset();
  return *hosts_rows({input.measurements, input.diagnosis, options});
}

Result<OrderedJson> hosts_document(const PageInput& input) {
  return hosts_rows(input).map([&](const PageRows& hosts) {
    if (input.options.by_step) return table_page_json(hosts, "tfdata-doctor.hosts/1");
    OrderedJson page = begun_page("tfdata-doctor.hosts/1");
    page[key::comparison] = text_or_null(hosts.note);
    page[key::rows] = table_json(hosts.table);
    page[key::steps] = table_json(waits_below_hosts(input).table);
    return page;
  });
}

Result<std::string> hosts_text(const PageInput& input) {
  const std::vector<StepOnCores> steps = steps_in_common(input);
  const bool has_ranges = std::ranges::any_of(steps, [](const StepOnCores& step) { return step.core_count > 1; });
  return hosts_rows(input).map([&](const PageRows& hosts) {
    std::string text = rows_text(hosts, input.options.style.width);
    if (input.options.by_step || !has_ranges) return text;
    return text + "\n" + rows_text(waits_below_hosts(input), input.options.style.width);
  });
}

}  // namespace

constinit const Page kHostsPage = {
    .name = "hosts",
    .summary = "the hosts of a run side by side, and the waits of its cores in each step",
    .needs_tf_data = false,
    .needs = need_whole_profile,
    .rows = hosts_rows,
    .text = hosts_text,
    .document = hosts_document};

}  // namespace doctor
