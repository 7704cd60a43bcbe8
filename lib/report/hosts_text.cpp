#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/devices.h"
#include "report/pipeline_text.h"
#include "report/text_parts.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kShownPipelines = 3;
constexpr std::size_t kShownHosts = 8;
constexpr std::size_t kHostWidth = 40;

std::string describe_host(const ComparedHost& host, const std::vector<PipelineView>& pipelines) {
  if (!host.judgement) return "no call that could be compared";
  const PipelineView& worst = pipelines[*host.judgement];
  std::string text =
      fmt::format("waits {} of the time, {} a batch", format_share(host.input_share), format_time(host.mean_wait));
  if (names_culprit(worst.judgement)) text += ", " + describe_culprit(worst.host, worst.pipeline, worst.judgement);
  return text;
}

/// Why the first pipeline comes before the others: pipelines are ranked by how much they hold their consumer up, then
/// by the time waited.
std::string describe_rank(const PipelineView& worst) {
  const InputLevel level = worst.judgement.level;
  return fmt::format("pipeline {}: {}, {}", pipeline_id(worst.judgement, worst.pipeline), describe_cost(worst),
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
    text += fmt::format("{}{} ({})", named == 0 ? "" : ", ", clip(escape_for_terminal(host.name), kHostWidth),
                        format_share(host.input_share));
    ++named;
  }
  if (named >= comparison.compared_count) return text;
  const std::size_t others = comparison.compared_count - named;
  return text + fmt::format("; {} {} or less", others == 1 ? "the other" : "the others",
                            format_share(comparison.hosts[named].input_share));
}

}  // namespace

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
  const bool differ = comparison.straggler_count > 0 ||
                      std::any_of(comparison.hosts.begin(), comparison.hosts.end(), [&](const ComparedHost& host) {
                        return host.judgement && host.level != comparison.hosts.front().level;
                      });
  if (differ) page.row("Slowest", describe_slowest(comparison));
  if (detail != Detail::full) return;
  std::size_t width = 0;
  const std::size_t shown = std::min(kShownHosts, comparison.hosts.size());
  std::vector<std::string> names;
  for (std::size_t index = 0; index < shown; ++index) {
    names.push_back(clip(escape_for_terminal(comparison.hosts[index].name), kHostWidth));
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
  page.row("Host", fmt::format("{} alone; {} of the run {} left out (--host)", host_name(measurements.hosts.front()),
                               format_count(count, "other host"), count == 1 ? "was" : "were"));
}

void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, TextPage& page) {
  const auto is_shown = [&](std::size_t index) {
    return comparison.is_possible() && std::any_of(comparison.hosts.begin(), comparison.hosts.end(),
                                                   [&](const ComparedHost& host) { return host.judgement == index; });
  };
  std::size_t others = 0;
  for (std::size_t index = 1; index < pipelines.size(); ++index) {
    const PipelineView& view = pipelines[index];
    const std::optional<double> share = input_share_of(view);
    // What only feeds another pipeline is part of that one's waits.
    if (view.pipeline.feeds_another || !share || is_shown(index) || ++others > kShownPipelines) continue;
    if (others == 1) page.row("First", describe_rank(pipelines.front()));
    std::string text =
        fmt::format("pipeline {}: {}, {} of the time in GetNext ({})", pipeline_id(view.judgement, view.pipeline),
                    describe_cost(view), format_share(view.judgement.input_share), describe_calls(view.pipeline));
    if (names_culprit(view.judgement)) text += ", " + describe_culprit(view.host, view.pipeline, view.judgement);
    if (has_many_hosts) text += ", on " + clip(escape_for_terminal(host_name(view.host)), kHostWidth);
    page.row("Others", text);
  }
  if (others > kShownPipelines) page.row("Others", fmt::format("{} more pipelines", others - kShownPipelines));
}

}  // namespace doctor
