#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "diagnose/host_comparison.h"
#include "report/overview.h"
#include "report/selection.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

constexpr std::size_t kMostBars = 20;
constexpr std::size_t kTimelineWidth = 50;

/// What a bar of the graph is made of: the device at work, waiting for input, the host at work, nothing of these.
struct BarPart {
  std::string_view mark;
  std::string_view words;
  std::vector<StepPart> parts;
};

const std::vector<BarPart>& bar_parts() {
  static const std::vector<BarPart> parts = {
      {"█", "device compute", {StepPart::device_compute_16, StepPart::device_compute_32}},
      {"▒", "input", {StepPart::input}},
      {"▓", "host compute and launch", {StepPart::host_compute, StepPart::kernel_launch, StepPart::compilation}},
      {"·", "other", {StepPart::output, StepPart::device_to_device, StepPart::other}}};
  return parts;
}

Picoseconds time_of(const BarPart& bar, const StepMeasurement& step) {
  Picoseconds time = 0;
  for (const StepPart part : bar.parts) time += step[part];
  return time;
}

std::string bar_of(const StepMeasurement& step, Picoseconds longest) {
  std::string bar;
  double so_far = 0;
  std::size_t drawn = 0;
  for (const BarPart& part : bar_parts()) {
    so_far += static_cast<double>(time_of(part, step));
    const auto end = static_cast<std::size_t>(std::lround(so_far / static_cast<double>(longest) * kTimelineWidth));
    for (; drawn < end; ++drawn) bar += part.mark;
  }
  return bar;
}

void add_graph(const StepTable& table, TextPage& page) {
  Picoseconds longest = 1;
  for (const StepMeasurement& step : table.steps) longest = std::max(longest, step.duration());
  std::string lines;
  for (std::size_t index = 0; index < std::min(table.steps.size(), kMostBars); ++index) {
    const StepMeasurement& step = table.steps[index];
    lines += fmt::format("{:>6}  {:>8}  {}\n", step.number ? std::to_string(*step.number) : "-",
                         format_time(step.duration()), bar_of(step, longest));
  }
  if (table.steps.size() > kMostBars) {
    lines += fmt::format("... and {} ('show steps --top 0' lists them)\n",
                         format_count(table.steps.size() - kMostBars, "more step"));
  }
  for (const BarPart& part : bar_parts()) lines += fmt::format("{} {}   ", part.mark, part.words);
  page.lines("steps", lines);
}

struct PartWords {
  StepPart part;
  std::string_view words;
};

constexpr std::array<PartWords, kStepPartCount> kPartWords = {{{StepPart::compilation, "compilation"},
                                                               {StepPart::output, "output"},
                                                               {StepPart::input, "input"},
                                                               {StepPart::kernel_launch, "kernel launch"},
                                                               {StepPart::host_compute, "host compute"},
                                                               {StepPart::device_to_device, "device to device"},
                                                               {StepPart::device_compute_16, "device compute 16-bit"},
                                                               {StepPart::device_compute_32, "device compute 32-bit"},
                                                               {StepPart::other, "all others"}}};

void add_step_time(const StepOverview& steps, TextPage& page) {
  const StepSummary& summary = steps.summary;
  if (summary.count == 0) return page.row("step time", steps.note);
  page.row("step time",
           fmt::format("{} on average over {} (deviation {}, {} to {}); {}",
                       format_time(static_cast<Picoseconds>(summary.average)), format_count(summary.count, "step"),
                       format_time(static_cast<Picoseconds>(summary.deviation)), format_time(summary.shortest),
                       format_time(summary.longest), steps.note));
  std::string breakdown;
  for (const auto& [part, words] : kPartWords) {
    const double time = summary.parts[static_cast<std::size_t>(part)];
    if (time <= 0) continue;
    breakdown += fmt::format("{}{} {} ({})", breakdown.empty() ? "" : ", ", words,
                             format_time(static_cast<Picoseconds>(time)), format_share(time / summary.average));
  }
  page.row("of it", breakdown);
  if (!steps.verdict_note.empty()) page.row("input", steps.verdict_note);
}

void add_environment(const Measurements& measurements, TextPage& page) {
  const RunEnvironment environment = run_environment(measurements);
  std::string text = are_windows_of_one_host(measurements)
                         ? fmt::format("{} windows of one host, ", environment.hosts.size())
                         : format_count(environment.hosts.size(), "host") + ", ";
  text += environment.devices.empty() ? "no device"
                                      : format_count(environment.devices.size(), environment.device_type + " device");
  if (environment.cpu_cores) {
    text += fmt::format(", {} for tf.data", format_count(static_cast<std::uint64_t>(*environment.cpu_cores), "core"));
  }
  page.row("run", text);
}

}  // namespace

std::string render_overview_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style) {
  const StepOverview steps = step_overview(measurements, diagnosis);
  TextPage page(style.color);
  page.row("verdict", summarize(measurements, diagnosis.judgement));
  add_step_time(steps, page);
  add_environment(measurements, page);
  for (const std::string& next : next_steps_of(diagnosis)) page.row("next", next);
  for (const StepTable& table : steps.hosts) {
    if (table.steps.empty()) continue;
    page.empty_line();
    add_graph(table, page);
  }
  const DataTable ops = top_ops(measurements);
  std::string text = page.take();
  if (!ops.rows.empty()) text += "\nops that ran the longest, " + ops_side(ops) + ":\n" + table_text(ops);
  return text;
}

}  // namespace doctor
