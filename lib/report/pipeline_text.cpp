#include "diagnose/cores.h"
#include "diagnose/culprit_function.h"
#include "diagnose/devices.h"
#include "diagnose/user_code.h"
#include "report/json_values.h"
#include "report/report.h"

namespace doctor {
namespace {

constexpr std::size_t kPlaceParts = 10;
constexpr std::size_t kInputParts = 3;
constexpr std::size_t kReportNameWidth = 40;
constexpr double kIdleShare = 0.05;      // of a function's time: less is rounding and the way to its ops
constexpr double kQueuedClosures = 0.5;  // on average: from here on one mostly waited
constexpr double kBesideShare = 0.1;     // of that time: what ran for less explains nothing

std::string part_name(const IteratorMeasurement& iterator) {
  return clipped(iterator.short_name, kReportNameWidth);
}

/// The input that the judged calls waited for most, else the first.
IteratorId main_input(const HostMeasurement& host, const PhaseMeasurement& phase, IteratorId of) {
  IteratorId main = kNoIterator;
  Picoseconds most = -1;
  for (const IteratorId child : host.iterators[of].children) {
    const Picoseconds time = phase.critical[child];
    if (time <= most) continue;
    main = child;
    most = time;
  }
  return main;
}

/// "DecodeJpeg of Dataset.map below it ran": what ran beside the function of `culprit`.
std::string describe_beside(const HostMeasurement& host, IteratorId culprit, const OpBeside& beside) {
  const std::string op = clipped(beside.op, kReportNameWidth);
  if (beside.iterator == kNoIterator) return op + " ran elsewhere";
  const IteratorMeasurement& other = host.iterators[beside.iterator];
  std::size_t steps = host.iterators.size();  // a file may hold a cycle
  IteratorId above = other.parent;
  for (; above != kNoIterator && above != culprit && steps > 0; --steps) above = host.iterators[above].parent;
  const SourceLine* const line = host.iterators[beside.iterator].line();
  const std::string place = line != nullptr ? " at " + to_text(*line) : std::string();
  return fmt::format("{} of {}{}{} ran", op, describe(other), place, above == culprit ? " below it" : "");
}

/// Why no op of the function ran while the calls waited for it, as far as the trace shows it.
std::string describe_idle_function(const PipelineView& view) {
  const PhaseMeasurement& phase = view.phase();
  std::string text = fmt::format("no op of it ran for {}", format_time(phase.function_idle));
  const bool is_queued = phase.queued_closures.value_or(0) >= kQueuedClosures;
  if (is_queued) text += ": its calls waited for a thread";
  const OpBeside most = phase.beside.empty() ? OpBeside{} : phase.beside.front();
  if (share_of_time(most.time, phase.function_idle) < kBesideShare) {
    if (is_queued) return text;
    return format_time(phase.function_idle) + " is call overhead, or ops too short to be recorded";
  }
  return text + fmt::format("{} {}, for {}", is_queued ? ", meanwhile" : ", while",
                            describe_beside(view.host, view.judgement.culprit, most), format_time(most.time));
}

constexpr std::size_t kShownPipelines = 3;
constexpr std::size_t kShownHosts = 8;

std::string describe_host(const ComparedHost& host, const std::vector<PipelineView>& pipelines) {
  if (!host.judgement) return "no call that could be compared";
  const PipelineView& worst = pipelines[*host.judgement];
  std::string text =
      fmt::format("waits {} of the time, {} a batch", format_share(host.input_share), format_time(host.mean_wait));
  if (names_culprit(worst.judgement)) text += ", " + describe_culprit(worst);
  return text;
}

/// Why the first pipeline comes before the others: pipelines are ranked by how much they hold their consumer up, then
/// by the time waited.
std::string describe_rank(const PipelineView& worst) {
  const InputLevel level = worst.judgement.level;
  return fmt::format("pipeline {}: {}, {}", pipeline_id(worst), describe_cost(worst),
                     level == InputLevel::bound  ? "input-bound"
                     : level == InputLevel::mild ? "waits worth a look"
                                                 : "more than any other, though none holds the job up");
}

/// Hosts that wait, slowest first, in one row: "host1 (86%), host5 (41%); the others 1.1% or less".
std::string describe_slowest(const HostComparison& comparison) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  std::size_t named = 0;
  for (const ComparedHost& host : comparison.hosts) {
    const bool stands_out = host.is_straggler || host.level == InputLevel::bound || named == 0;
    if (!host.judgement || named == kNamed || !stands_out) break;
    text += fmt::format("{}{} ({})", named == 0 ? "" : ", ", clipped(host.name, kReportNameWidth),
                        format_share(host.input_share));
    ++named;
  }
  if (named >= comparison.compared_count) return text;
  const std::size_t others = comparison.compared_count - named;
  return text + fmt::format("; {} {} or less", others == 1 ? "the other" : "the others",
                            format_share(comparison.hosts[named].input_share));
}

}  // namespace

std::string describe_calls(const PipelineMeasurement& pipeline) {
  std::string text = format_count(pipeline.calls.size(), "call");
  if (pipeline.warmup_count > 0) text += fmt::format(", the first {} set aside as warm-up", pipeline.warmup_count);
  return text + fmt::format(", median {}, max {}", format_time(pipeline.median), format_time(pipeline.max));
}

std::string describe_place(const PipelineView& view) {
  if (view.judgement.culprit == kNoIterator) return {};
  const HostMeasurement& host = view.host;
  std::vector<std::string> above;
  // No way is longer than there are iterators, whatever a damaged trace says.
  IteratorId iterator = view.culprit().parent;
  while (iterator != kNoIterator && above.size() < host.iterators.size()) {
    above.push_back(part_name(host.iterators[iterator]));
    iterator = host.iterators[iterator].parent;
  }
  std::ranges::reverse(above);
  if (above.size() > kPlaceParts) {
    above.erase(above.begin() + 1, above.end() - (kPlaceParts - 2));
    above.insert(above.begin() + 1, "...");
  }
  const std::optional<std::int64_t> parallelism = view.culprit().number("parallelism");
  const std::string own = part_name(view.culprit());
  above.push_back(parallelism ? fmt::format("[{}, parallelism {}]", own, *parallelism) : fmt::format("[{}]", own));
  iterator = view.judgement.culprit;
  for (std::size_t part = 0; part < kInputParts && iterator != kNoIterator; ++part) {
    iterator = main_input(host, view.phase(), iterator);
    if (iterator != kNoIterator) above.push_back(part_name(host.iterators[iterator]));
  }
  if (iterator != kNoIterator && !host.iterators[iterator].children.empty()) above.emplace_back("...");
  return fmt::format("{}", fmt::join(above, " > "));
}

std::string describe_line(const SourceLine& line) {
  constexpr std::size_t kLongestCode = 80;
  const std::string& file = line.repository_file.empty() ? line.file : line.repository_file;
  return fmt::format("{}:{}: {}", file, line.line, clipped(line.code, kLongestCode));
}

std::string describe_function(const PipelineView& view) {
  const PhaseMeasurement& phase = view.phase();
  const IteratorId culprit = view.judgement.culprit;
  if (culprit == kNoIterator) return {};
  const CulpritFunction function = view.function();
  if (function.time <= 0) return {};
  std::string text =
      function.is_waited_for
          ? fmt::format("{} of {} in your function", format_time(function.time), format_time(phase.critical[culprit]))
          : fmt::format("{} in the ops of your function, on all threads", format_time(function.time));
  std::string_view before = ": ";
  for (const FunctionOp& op : function.main_ops()) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), clipped(op.op, kReportNameWidth), format_time(op.self));
  }
  if (function.python > 0) text += fmt::format("; {} of it in Python", format_time(function.python));
  if (!function.is_waited_for) return text;
  const bool is_idle = static_cast<double>(phase.function_idle) >= kIdleShare * static_cast<double>(function.time);
  return is_idle ? text + "; " + describe_idle_function(view) : text;
}

std::string describe_feeding(const PipelineView& view) {
  const std::vector<std::string> ids = feeding_pipelines(view);
  if (ids.empty()) return {};
  std::string text =
      fmt::format("{} pipeline {} gets its elements from host pipeline{}", view.pipeline.is_device ? "device" : "host",
                  pipeline_id(view), ids.size() > 1 ? "s" : "");
  for (const std::string& id : ids) text += (id == ids.front() ? " " : ", ") + id;
  return text;
}

std::string describe_cost(const PipelineView& view) {
  std::string text = format_time(view.pipeline.total) + " waited in all";
  if (view.host.window <= 0) return text;
  return text + fmt::format(" ({} of the window)",
                            format_share(std::min(1.0, share_of_time(view.pipeline.total, view.host.window))));
}

std::string describe_cores(const PipelineView& view) {
  const std::optional<double> utilization = cpu_utilization(view.pipeline, view.phase());
  const std::string seen = threads_seen(view.host.compute_threads);
  if (!utilization && seen.empty()) return {};
  const std::string busy =
      utilization ? fmt::format("{:.1f} of {}", *utilization * static_cast<double>(*view.pipeline.cpu_budget),
                                *view.pipeline.cpu_budget)
                  : fmt::format("{:.1f} ({})", view.phase().busy_threads, seen);
  return fmt::format("{} busy during the waits (estimate)", busy);
}

void add_devices(const Measurements& measurements, TextPage& page) {
  const DeviceActivity* main = nullptr;
  std::size_t count = 0;
  bool is_aligned = true;
  for (const HostMeasurement& host : measurements.hosts) {
    const DeviceActivity* const device = main_device(host);
    is_aligned = is_aligned && host.device_profile.is_aligned;
    if (device != nullptr && (main == nullptr || device->kernel_sum > main->kernel_sum)) main = device;
    for (const DeviceActivity& other : host.device_profile.devices) count += other.kernel_count > 0 ? 1 : 0;
  }
  if (main == nullptr) return;
  std::string text =
      fmt::format("{}: {} of {} ({})", main->name, format_time(main->kernels), main->is_gpu() ? "kernels" : "ops",
                  format_count(main->kernel_count, main->is_gpu() ? "kernel" : "op"));
  if (is_aligned)
    text +=
        fmt::format(", busy {} of {}", format_share(share_of_window(*main, main->busy)), format_time(main->length()));
  for (const auto& [time, words] :
       {std::pair(main->copy_wait, "waits for copies beside its ops"), std::pair(main->infeed, "waits for its infeed"),
        std::pair(main->outfeed, "waits for its outfeed")}) {
    if (time > 0) text += fmt::format(", {} {}", words, format_share(share_of_window(*main, time)));
  }
  if (count > 1) {
    text += fmt::format("; {} with {} in all", format_count(count, "device"), main->is_gpu() ? "kernels" : "ops");
  }
  page.row("Device", text);
}

void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, Detail detail,
               TextPage& page) {
  if (!comparison.is_possible()) return;
  const bool differ =
      comparison.straggler_count > 0 || std::ranges::any_of(comparison.hosts, [&](const ComparedHost& host) {
        return host.judgement && host.level != comparison.hosts.front().level;
      });
  if (differ) page.row("Slowest", describe_slowest(comparison));
  if (detail != Detail::full) return;
  std::size_t width = 0;
  const std::size_t shown = std::min(kShownHosts, comparison.hosts.size());
  std::vector<std::string> names;
  for (std::size_t index = 0; index < shown; ++index) {
    names.push_back(clipped(comparison.hosts[index].name, kReportNameWidth));
    width = std::max(width, column_count(names.back()) + 2);
  }
  for (std::size_t index = 0; index < shown; ++index) {
    page.row("Hosts", names[index], describe_host(comparison.hosts[index], pipelines), width);
  }
  if (comparison.hosts.size() > shown) {
    page.row("Hosts", fmt::format("{} more {}", comparison.hosts.size() - shown, comparison.noun()));
  }
  page.row("Hosts", describe_comparison(comparison));
}

void add_left_out(const Measurements& measurements, TextPage& page) {
  const std::size_t count = measurements.left_out.size();
  if (count == 0) return;
  page.row("Host", fmt::format("{} alone; {} of the run {} left out (--host)", measurements.hosts.front().name(),
                               format_count(count, "other host"), count == 1 ? "was" : "were"));
}

void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, TextPage& page) {
  const auto is_shown = [&](std::size_t index) {
    return comparison.is_possible() &&
           std::ranges::any_of(comparison.hosts, [&](const ComparedHost& host) { return host.judgement == index; });
  };
  std::size_t others = 0;
  for (std::size_t index = 1; index < pipelines.size(); ++index) {
    const PipelineView& view = pipelines[index];
    const std::optional<double> share = input_share_of(view);
    // What only feeds another pipeline is part of that one's waits.
    if (view.pipeline.feeds_another || !share || is_shown(index) || ++others > kShownPipelines) continue;
    if (others == 1) page.row("First", describe_rank(pipelines.front()));
    std::string text =
        fmt::format("pipeline {}: {}, {} of the time in GetNext ({})", pipeline_id(view), describe_cost(view),
                    format_share(view.judgement.input_share), describe_calls(view.pipeline));
    if (names_culprit(view.judgement)) text += ", " + describe_culprit(view);
    if (has_many_hosts) text += ", on " + clipped(view.host.name(), kReportNameWidth);
    page.row("Others", text);
  }
  if (others > kShownPipelines) page.row("Others", fmt::format("{} more pipelines", others - kShownPipelines));
}

}  // namespace doctor
