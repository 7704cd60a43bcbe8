#include "measure/host_choice.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr std::array<StepPartNames, kStepPartCount> kParts = {{
    {StepPart::compilation, "compilation_us", "compile", "compilation", "hot", 5},
    {StepPart::output, "output_us", "output", "output", "other", 6},
    {StepPart::input, "input_us", "input", "input", "waits", 0},
    {StepPart::kernel_launch, "kernel_launch_us", "launch", "kernel launch", "s3", 4},
    {StepPart::host_compute, "host_compute_us", "host compute", "host compute", "s2", 1},
    {StepPart::device_to_device, "device_to_device_us", "dev. to dev.", "device to device", "s5", 6},
    {StepPart::copy_wait, "copy_wait_us", "copy wait", "device waits for copies", "s5", 5},
    {StepPart::device_compute_16, "device_compute_16_us", "device 16 bit", "device compute 16-bit", "runs", 2},
    {StepPart::device_compute_32, "device_compute_32_us", "device 32 bit", "device compute 32-bit", "s4", 1},
    {StepPart::other, "other_us", "other", "all others", "gap", 3},
}};

/// Only devices with ops of XLA wait for copies in them: elsewhere there is no such column.
std::vector<StepPartNames> shown_parts(const Measurements& measurements) {
  std::vector<StepPartNames> parts(kParts.begin(), kParts.end());
  const bool has_copy_wait = std::ranges::any_of(measurements.hosts, [](const HostMeasurement& host) {
    return std::ranges::any_of(host.steps.steps,
                               [](const StepMeasurement& step) { return step[StepPart::copy_wait] > 0; });
  });
  if (!has_copy_wait) std::erase_if(parts, [](const StepPartNames& part) { return part.part == StepPart::copy_wait; });
  return parts;
}

constexpr std::array<NamedValue<StepSource>, 6> kSources = {
    {{StepSource::markers, "markers", "steps as the trace's markers number them"},
     {StepSource::session_runs, "session_runs", "steps are the session runs of the timeline"},
     {StepSource::cadence, "get_next_cadence",
      "the trace has no step markers, or two at most: a step is the time from one GetNext call to the next"},
     {StepSource::cadence_beside_markers, "get_next_cadence",
      "next() is called outside of the step marker: steps run from one GetNext to the next"},
     {StepSource::programs, "program_runs",
      "the trace has neither step markers nor GetNext calls: a step is from one run to the next of the program of XLA "
      "that takes most of the device's time"},
     {StepSource::none, "none", "the trace has neither step markers nor two GetNext calls"}}};

/// Of all hosts.
std::size_t step_count(const Measurements& measurements) {
  std::size_t count = 0;
  for (const HostMeasurement& host : measurements.hosts) count += host.steps.steps.size();
  return count;
}

/// A row for each step of each host, in order of time; only the first `most_rows`, because half a million steps, which
/// a trace of 25 MB can have, are 300 MB of cells.
DataTable steps_table(const Measurements& measurements, std::size_t most_rows) {
  DataTable table;
  table.columns = {{"host", "host", ColumnKind::text, false, 8},
                   {"step", "step", ColumnKind::rank},
                   {"start_us", "start", ColumnKind::time, false, 7},
                   {"duration_us", "duration", ColumnKind::time}};
  const std::vector<StepPartNames> parts = shown_parts(measurements);
  for (const StepPartNames& part : parts)
    table.columns.push_back({part.key, part.title, ColumnKind::time, true, part.spare});
  table.columns.push_back({"input_share", "input", ColumnKind::share});
  table.columns.push_back({"counted", "counted", ColumnKind::flag, false, 3});
  const std::vector<std::string> names = names_of_hosts(measurements);
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    const HostMeasurement& host = measurements.hosts[index];
    for (const StepMeasurement& step : host.steps.steps) {
      if (table.rows.size() >= most_rows) return table;
      std::vector<Cell> row = {names[index], {}, step.span.start - host.window_start, step.duration()};
      if (step.number) row[1] = *step.number;
      for (const StepPartNames& part : parts) row.emplace_back(step[part.part]);
      row.emplace_back();
      if (step.duration() > 0) row.back() = share_of_time(step[StepPart::input], step.duration());
      row.emplace_back(!step.is_boundary);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Result<PageRows> steps_rows(const PageInput& input) {
  const ShowOptions& options = input.options;
  const std::size_t most = options.sort ? SIZE_MAX : options.most_rows().value_or(SIZE_MAX);
  return chosen_rows(
      options, {steps_table(input.measurements, most), step_note(input.measurements), step_count(input.measurements)});
}

}  // namespace

std::span<const StepPartNames> step_parts() {
  return kParts;
}

std::string_view to_word(StepSource source) {
  return std::ranges::find(kSources, source, &NamedValue<StepSource>::value)->word;
}

std::string step_note(const Measurements& measurements) {
  std::set<StepSource> seen;
  return joined(measurements.hosts, "; ", [&](const HostMeasurement& host) {
    const StepSource source = host.steps.source;
    const bool is_new = seen.insert(source).second;
    return is_new ? std::string(std::ranges::find(kSources, source, &NamedValue<StepSource>::value)->words)
                  : std::string();
  });
}

constinit const Page kStepsPage = {
    .name = "steps",
    .summary = "each step and what its time went to",
    .is_drawn = true,
    .needs_tf_data = false,
    .needs = [](const ShowOptions&) -> TraceNeeds { return {.element_types = true, .profile = kDiagnosisParts}; },
    .rows = steps_rows,
    .schema = "tfdata-doctor.steps/1"};

}  // namespace doctor
