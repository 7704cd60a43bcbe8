#include <cmath>

#include "diagnose/cores.h"
#include "diagnose/loaders.h"
#include "report/json_values.h"
#include "report/page.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

/// Shares that differ by less are the same to a person.
constexpr double kSameShare = 0.05;

bool prepares_copies(const HostMeasurement& host) {
  return host.profile && !host.profile->host.staging.empty();
}

/// What the share of the steps is taken of.
std::string base_of_steps(const Measurements& measurements, const StepOverview& overview) {
  const bool has_markers = std::ranges::any_of(overview.hosts, [](const StepTable& host) {
    return host.source == StepSource::markers || host.source == StepSource::session_runs;
  });
  const bool has_boundary = std::ranges::any_of(
      overview.hosts, [](const StepTable& host) { return !host.steps.empty() && host.steps.front().is_boundary; });
  std::size_t pipelines = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const PipelineMeasurement& pipeline : host.pipelines) pipelines += pipeline.feeds_another ? 0 : 1;
  }
  std::string base = has_markers ? "the marked steps" : "the time from one GetNext to the next";
  if (has_boundary) base += " without the first and the last";
  if (std::ranges::any_of(measurements.hosts, prepares_copies)) base += ", with the copies to the device";
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
  const double share = worst.judgement.input_share;  // waits, as those of the steps
  if (!input_share_of(worst) || !overview.summary.input_share) return {};
  if (std::abs(share - *overview.summary.input_share) < kSameShare) return {};
  return fmt::format("{} is of {}; the verdict's {} is of {}", format_share(*overview.summary.input_share),
                     base_of_steps(measurements, overview), format_share(share),
                     base_of_verdict(worst.pipeline, share));
}

/// What the job ran on.
struct RunEnvironment {
  std::vector<std::string> hosts;         ///< names; foreign text
  std::vector<std::string> devices;       ///< of all hosts
  std::string device_type;                ///< "GPU", "TPU", "CPU" without a device
  std::optional<std::int64_t> cpu_cores;  ///< that tf.data may use on a host; nullopt where no trace says it
  std::uint64_t threads_seen = 0;         ///< of a compute pool, on the host that shows most
};

RunEnvironment run_environment(const Measurements& measurements) {
  RunEnvironment environment;
  environment.device_type = "CPU";
  for (const HostMeasurement& host : measurements.hosts) {
    environment.hosts.push_back(host.name());
    environment.devices.insert(environment.devices.end(), host.devices.begin(), host.devices.end());
    environment.threads_seen = std::max(environment.threads_seen, host.compute_threads);
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

/// The ten ops with the most self time on the devices; on the hosts where no op ran on a device. Idle time is left out,
/// and so are iterators, whose work has its own page.
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

/// "on the devices" or "on the hosts", as the rows of top_ops() are.
std::string ops_side(const DataTable& ops) {
  const bool is_on_device = !ops.rows.empty() && std::get<std::string>(ops.rows.front()[1]) == "device";
  return is_on_device ? "on the devices" : "on the hosts (iterators left out)";
}

/// What to do next: the first change of each finding, then the pages that say more. Holds foreign text.
std::vector<std::string> next_steps_of(const Diagnosis& diagnosis) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> next;
  for (const Finding& finding : diagnosis.findings) {
    if (next.size() == kMost || finding.advice.empty() || finding.severity == Severity::note) continue;
    next.push_back(finding.rule + ": " + finding.advice.front().text.action);
  }
  next.emplace_back(next.empty() ? "'show ops' lists what the time goes to instead"
                                 : "'show input' lists the work of the input pipeline, 'show calls' its slow calls");
  return next;
}

double to_milliseconds(double picoseconds) {
  return picoseconds / static_cast<double>(kPicosecondsPerMillisecond);
}

double part_ms(const StepSummary& summary, StepPart part) {
  return to_milliseconds(summary.parts[static_cast<std::size_t>(part)]);
}

OrderedJson breakdown_json(const StepSummary& summary) {
  OrderedJson breakdown = {{key::compilation, part_ms(summary, StepPart::compilation)},
                           {key::output, part_ms(summary, StepPart::output)},
                           {key::input, part_ms(summary, StepPart::input)},
                           {key::kernel_launch, part_ms(summary, StepPart::kernel_launch)},
                           {key::host_compute, part_ms(summary, StepPart::host_compute)},
                           {key::device_to_device, part_ms(summary, StepPart::device_to_device)},
                           {key::device_compute, part_ms(summary, StepPart::device_compute_16) +
                                                     part_ms(summary, StepPart::device_compute_32)},
                           {key::other, part_ms(summary, StepPart::other)}};
  if (const double wait = part_ms(summary, StepPart::copy_wait); wait > 0) breakdown[key::copy_wait] = wait;
  return breakdown;
}

/// Null without device compute.
OrderedJson precision_json(const StepSummary& summary) {
  const double half = part_ms(summary, StepPart::device_compute_16);
  const double whole = half + part_ms(summary, StepPart::device_compute_32);
  if (whole <= 0) return nullptr;
  return {{key::bits_16_share, half / whole}, {key::bits_32_share, (whole - half) / whole}};
}

OrderedJson environment_json(const Measurements& measurements, const StepOverview& overview) {
  const RunEnvironment environment = run_environment(measurements);
  return {{key::hosts, environment.hosts},
          {key::host_count, environment.hosts.size()},
          {key::device_type, environment.device_type},
          {key::devices, environment.devices},
          {key::device_count, environment.devices.size()},
          {key::cpu_cores, or_null(environment.cpu_cores)},
          {key::threads_seen, environment.threads_seen},
          {key::step_source, array_of(overview.hosts, [&](const StepTable& host) { return to_word(host.source); })}};
}

OrderedJson step_json(const StepMeasurement& step) {
  return {{key::step, or_null(step.number)},
          {key::duration_ms, to_milliseconds(static_cast<double>(step.duration()))},
          {key::input_ms, to_milliseconds(static_cast<double>(step[StepPart::input]))},
          {key::counted, !step.is_boundary}};
}

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
      {"·", "other", {StepPart::output, StepPart::device_to_device, StepPart::copy_wait, StepPart::other}}};
  return parts;
}

Picoseconds time_of(const BarPart& bar, const StepMeasurement& step) {
  Picoseconds time = 0;
  for (const StepPart part : bar.parts) time += step[part];
  return time;
}

std::string bar_of(const StepMeasurement& step, Picoseconds longest, std::size_t width) {
  std::string bar;
  double so_far = 0;
  std::size_t drawn = 0;
  for (const BarPart& part : bar_parts()) {
    so_far += static_cast<double>(time_of(part, step));
    const auto end =
        static_cast<std::size_t>(std::lround(so_far / static_cast<double>(longest) * static_cast<double>(width)));
    for (; drawn < end; ++drawn) bar += part.mark;
  }
  return bar;
}

void add_graph(const StepTable& table, PageWidth width, TextPage& page) {
  constexpr std::size_t kBesideBar = 30;  // columns of labels, numbers and times
  const std::size_t bar = std::min(width.value_or(SIZE_MAX) - kBesideBar, kTimelineWidth);
  Picoseconds longest = 1;
  for (const StepMeasurement& step : table.steps) longest = std::max(longest, step.duration());
  std::string lines;
  for (std::size_t index = 0; index < std::min(table.steps.size(), kMostBars); ++index) {
    const StepMeasurement& step = table.steps[index];
    lines += fmt::format("{:>6}  {:>8}  {}\n", step.number ? std::to_string(*step.number) : "-",
                         format_time(step.duration()), bar_of(step, longest, bar));
  }
  page.lines("steps", lines);
  if (table.steps.size() > kMostBars) {
    page.row("Steps", fmt::format("... and {} ('show steps --top 0' lists them)",
                                  format_count(table.steps.size() - kMostBars, "more step")));
  }
  std::string legend;
  for (const BarPart& part : bar_parts()) legend += fmt::format("{} {}   ", part.mark, part.words);
  if (!width) return page.lines("steps", legend);
  legend.erase(legend.find_last_not_of(' ') + 1);
  page.row("Steps", legend);
}

void add_environment(const Measurements& measurements, TextPage& page) {
  const RunEnvironment environment = run_environment(measurements);
  std::string text = are_windows_of_one_host(measurements)
                         ? fmt::format("{} windows of one host, ", environment.hosts.size())
                         : format_count(environment.hosts.size(), "host") + ", ";
  text += environment.devices.empty() ? "no device"
                                      : format_count(environment.devices.size(), environment.device_type + " device");
  if (is_of_torch(measurements)) text += " (not read)";
  if (environment.cpu_cores) {
    text += fmt::format(", {} for tf.data", format_count(static_cast<std::uint64_t>(*environment.cpu_cores), "core"));
  } else if (environment.threads_seen > 0) {
    text += ", cores unknown (" + threads_seen(environment.threads_seen) + ")";
  }
  page.row("Run", text);
}

Result<OrderedJson> overview_document(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const StepOverview steps = step_overview(measurements, diagnosis);
  OrderedJson overview = {{key::step_time, step_time_json(steps.summary)},
                          {key::breakdown_ms, breakdown_json(steps.summary)},
                          {key::input_share, or_null(steps.input_share)},
                          {key::device_precision, precision_json(steps.summary)},
                          {key::environment, environment_json(measurements, steps)}};
  overview[key::steps] = array_of(steps.hosts, [](const StepTable& host) { return array_of(host.steps, step_json); });
  overview[key::top_ops] = table_json(top_ops(measurements));
  overview[key::recommendation] = {{key::summary, summarize(measurements, diagnosis)},
                                   {key::next_steps, next_steps_of(diagnosis)}};
  OrderedJson page = begun_page("tfdata-doctor.overview/1");
  page[key::overview] = std::move(overview);
  return page;
}

Result<std::string> overview_text(const PageInput& input) {
  const auto& [measurements, diagnosis, options] = input;
  const TextStyle& style = options.style;
  const StepOverview steps = step_overview(measurements, diagnosis);
  TextPage page(style.color, style.width);
  page.row("Verdict", summarize(measurements, diagnosis));
  add_step_time(steps, page);
  add_environment(measurements, page);
  for (const std::string& next : next_steps_of(diagnosis)) page.row("Next", next);
  for (const StepTable& table : steps.hosts) {
    if (table.steps.empty()) continue;
    page.empty_line();
    add_graph(table, style.width, page);
  }
  const DataTable ops = top_ops(measurements);
  std::string text = page.take();
  if (!ops.rows.empty()) {
    text += fitted_lines("\nops that ran the longest, " + ops_side(ops) + ":\n", style.width, 2);
    text += table_text(ops, style.width);
  }
  return text;
}

}  // namespace

constinit const Page kOverviewPage = {
    .name = "overview",
    .summary = "step time and what it goes to, the ops that run the longest, what to do next",
    .needs_tf_data = false,
    .needs = need_whole_profile,
    .text = overview_text,
    .document = overview_document};

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis) {
  StepOverview overview;
  for (const HostMeasurement& host : measurements.hosts) overview.hosts.push_back(host.steps);
  overview.summary = summarize_steps(overview.hosts);
  overview.note = step_note(measurements);
  overview.input_share = overview.summary.input_share;
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  if (pipelines.empty()) return overview;
  if (!overview.input_share) overview.input_share = input_share_of(pipelines.front());
  overview.verdict_note = verdict_note(measurements, overview, pipelines.front());
  return overview;
}

void add_step_time(const StepOverview& steps, TextPage& page) {
  const StepSummary& summary = steps.summary;
  if (summary.count == 0) return page.row("Step time", steps.note);
  page.row("Step time",
           fmt::format("{} on average over {} (deviation {}, {} to {}); {}",
                       format_time(static_cast<Picoseconds>(summary.average)), format_count(summary.count, "step"),
                       format_time(static_cast<Picoseconds>(summary.deviation)), format_time(summary.shortest),
                       format_time(summary.longest), steps.note));
  page.row("Of it", joined(step_parts(), ", ", [&](const StepPartNames& part) {
             const double time = summary.parts[static_cast<std::size_t>(part.part)];
             return time <= 0 ? std::string()
                              : fmt::format("{} {} ({})", part.words, format_time(static_cast<Picoseconds>(time)),
                                            format_share(time / summary.average));
           }));
  if (!steps.verdict_note.empty()) page.row("Input", steps.verdict_note);
}

OrderedJson step_time_json(const StepSummary& summary) {
  return {{key::count, summary.count},
          {key::average_ms, to_milliseconds(summary.average)},
          {key::stddev_ms, to_milliseconds(summary.deviation)},
          {key::min_ms, to_milliseconds(static_cast<double>(summary.shortest))},
          {key::max_ms, to_milliseconds(static_cast<double>(summary.longest))}};
}

}  // namespace doctor
