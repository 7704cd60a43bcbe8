#include <array>
#include <utility>

#include "report/ops_page.h"
#include "report/overview.h"
#include "report/selection.h"
#include "report/steps_page.h"

namespace doctor {
namespace {

double to_milliseconds(double picoseconds) {
  return picoseconds / static_cast<double>(kPicosecondsPerMillisecond);
}

double part_ms(const StepSummary& summary, StepPart part) {
  return to_milliseconds(summary.parts[static_cast<std::size_t>(part)]);
}

OrderedJson breakdown_json(const StepSummary& summary) {
  return {
      {"compilation", part_ms(summary, StepPart::compilation)},
      {"output", part_ms(summary, StepPart::output)},
      {"input", part_ms(summary, StepPart::input)},
      {"kernel_launch", part_ms(summary, StepPart::kernel_launch)},
      {"host_compute", part_ms(summary, StepPart::host_compute)},
      {"device_to_device", part_ms(summary, StepPart::device_to_device)},
      {"device_compute", part_ms(summary, StepPart::device_compute_16) + part_ms(summary, StepPart::device_compute_32)},
      {"other", part_ms(summary, StepPart::other)}};
}

/// Null without device compute.
OrderedJson precision_json(const StepSummary& summary) {
  const double half = part_ms(summary, StepPart::device_compute_16);
  const double whole = half + part_ms(summary, StepPart::device_compute_32);
  if (whole <= 0) return nullptr;
  return {{"bits_16_share", half / whole}, {"bits_32_share", (whole - half) / whole}};
}

OrderedJson environment_json(const Measurements& measurements, const StepOverview& overview) {
  const RunEnvironment environment = run_environment(measurements);
  OrderedJson json = {{"hosts", environment.hosts},
                      {"host_count", environment.hosts.size()},
                      {"device_type", environment.device_type},
                      {"devices", environment.devices},
                      {"device_count", environment.devices.size()}};
  json["cpu_cores"] = or_null(environment.cpu_cores);
  OrderedJson sources = OrderedJson::array();
  for (const StepTable& host : overview.hosts) sources.push_back(to_word(host.source));
  json["step_source"] = std::move(sources);
  return json;
}

OrderedJson step_json(const StepMeasurement& step) {
  OrderedJson json = {{"step", or_null(step.number)},
                      {"duration_ms", to_milliseconds(static_cast<double>(step.duration()))},
                      {"input_ms", to_milliseconds(static_cast<double>(step[StepPart::input]))},
                      {"counted", !step.is_boundary}};
  return json;
}

}  // namespace

OrderedJson step_time_json(const StepSummary& summary) {
  return {{"count", summary.count},
          {"average_ms", to_milliseconds(summary.average)},
          {"stddev_ms", to_milliseconds(summary.deviation)},
          {"min_ms", to_milliseconds(static_cast<double>(summary.shortest))},
          {"max_ms", to_milliseconds(static_cast<double>(summary.longest))}};
}

std::string render_overview_json(const Measurements& measurements, const Diagnosis& diagnosis) {
  const StepOverview steps = step_overview(measurements, diagnosis);
  OrderedJson overview = {{"step_time", step_time_json(steps.summary)},
                          {"breakdown_ms", breakdown_json(steps.summary)},
                          {"input_share", or_null(steps.input_share)},
                          {"device_precision", precision_json(steps.summary)},
                          {"environment", environment_json(measurements, steps)}};
  OrderedJson graph = OrderedJson::array();
  for (const StepTable& host : steps.hosts) {
    OrderedJson rows = OrderedJson::array();
    for (const StepMeasurement& step : host.steps) rows.push_back(step_json(step));
    graph.push_back(std::move(rows));
  }
  overview["steps"] = std::move(graph);
  overview["top_ops"] = table_json(top_ops(measurements));
  OrderedJson next_steps = OrderedJson::array();
  for (const std::string& next : next_steps_of(diagnosis)) next_steps.push_back(next);
  overview["recommendation"] = {{"summary", summarize(measurements, diagnosis.judgement)}, {"next_steps", next_steps}};
  OrderedJson page = {{"schema", "tfdata-doctor.overview/1"}, {"tool", tool_json()}};
  page["overview"] = std::move(overview);
  return to_text(page);
}

}  // namespace doctor
