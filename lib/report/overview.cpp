#include "report/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/ops_page.h"
#include "report/selection.h"
#include "report/steps_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Shares that differ by less are the same to a person.
constexpr double kSameShare = 0.05;

/// What the share of the steps is taken of.
std::string base_of_steps(const Measurements& measurements, const StepOverview& overview) {
  const bool has_markers = std::any_of(overview.hosts.begin(), overview.hosts.end(), [](const StepTable& host) {
    return host.source == StepSource::markers || host.source == StepSource::session_runs;
  });
  const bool has_boundary = std::any_of(overview.hosts.begin(), overview.hosts.end(), [](const StepTable& host) {
    return !host.steps.empty() && host.steps.front().is_boundary;
  });
  std::size_t pipelines = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const PipelineMeasurement& pipeline : host.pipelines) pipelines += pipeline.feeds_another ? 0 : 1;
  }
  std::string base = has_markers ? "the marked steps" : "the time from one GetNext to the next";
  if (has_boundary) base += " without the first and the last";
  return pipelines > 1 ? base + ", with the waits of all pipelines" : base;
}

/// What the verdict's share is taken of.
std::string base_of_verdict(const PipelineMeasurement& pipeline, double share) {
  std::string base = "the time from one GetNext to the next";
  const bool has_warmup = pipeline.warmup_count > 0;
  const bool leaves_out = pipeline.judged_cadence().share - share >= kSameShare;
  if (has_warmup || leaves_out) base += " without ";
  if (has_warmup) base += leaves_out ? "the warm-up and " : "the warm-up";
  if (leaves_out) base += "the slowest call";
  return pipeline.exposed ? base + ", while no device computes" : base;
}

std::string verdict_note(const Measurements& measurements, const StepOverview& overview, const PipelineView& worst) {
  const std::optional<double> share = input_share_of(worst);
  if (!share || !overview.summary.input_share) return {};
  if (std::abs(*share - *overview.summary.input_share) < kSameShare) return {};
  return fmt::format("{} is of {}; the verdict's {} is of {}", format_share(*overview.summary.input_share),
                     base_of_steps(measurements, overview), format_share(*share),
                     base_of_verdict(worst.pipeline, *share));
}

}  // namespace

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis) {
  StepOverview overview;
  for (const HostMeasurement& host : measurements.hosts) overview.hosts.push_back(measure_steps(host));
  overview.summary = summarize_steps(overview.hosts);
  overview.note = step_note(measurements);
  overview.input_share = overview.summary.input_share;
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  if (pipelines.empty()) return overview;
  if (!overview.input_share) overview.input_share = input_share_of(pipelines.front());
  overview.verdict_note = verdict_note(measurements, overview, pipelines.front());
  return overview;
}

RunEnvironment run_environment(const Measurements& measurements) {
  RunEnvironment environment;
  environment.device_type = "CPU";
  for (const HostMeasurement& host : measurements.hosts) {
    environment.hosts.push_back(host_name(host));
    environment.devices.insert(environment.devices.end(), host.devices.begin(), host.devices.end());
    for (const PipelineMeasurement& pipeline : host.pipelines) {
      if (pipeline.cpu_budget)
        environment.cpu_cores = std::max(environment.cpu_cores.value_or(0), *pipeline.cpu_budget);
    }
  }
  if (!environment.devices.empty()) {
    // "/device:GPU:0" -> "GPU"
    std::string_view type = environment.devices.front();
    constexpr std::string_view kPrefix = "/device:";
    if (type.starts_with(kPrefix)) type.remove_prefix(kPrefix.size());
    environment.device_type = type.substr(0, type.find(':'));
  }
  return environment;
}

DataTable top_ops(const Measurements& measurements) {
  constexpr std::size_t kShown = 10;
  OpsChoice choice;
  choice.with_iterators = false;
  DataTable table = ops_table(measurements, choice);
  const auto side_of = [](const std::vector<Cell>& row) { return std::get<std::string>(row[1]); };
  const bool has_device = !table.rows.empty() && side_of(table.rows.front()) == "device";
  if (has_device) std::erase_if(table.rows, [&](const std::vector<Cell>& row) { return side_of(row) != "device"; });
  if (table.rows.size() > kShown) table.rows.resize(kShown);
  return table;
}

std::string ops_side(const DataTable& ops) {
  const bool is_on_device = !ops.rows.empty() && std::get<std::string>(ops.rows.front()[1]) == "device";
  return is_on_device ? "on the devices" : "on the hosts (iterators left out)";
}

std::vector<std::string> next_steps_of(const Diagnosis& diagnosis) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> next;
  for (const Finding& finding : diagnosis.findings) {
    if (next.size() == kMost || finding.advice.empty() || finding.severity == Severity::note) continue;
    next.push_back(finding.rule + ": " + finding.advice.front().text);
  }
  next.emplace_back(next.empty() ? "'show ops' lists what the time goes to instead"
                                 : "'show input' lists the work of the input pipeline, 'show calls' its slow calls");
  return next;
}

}  // namespace doctor
