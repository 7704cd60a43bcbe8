#include "diagnose/host_comparison.h"

#include <fmt/format.h>

#include "measure/host_choice.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// The judgements are in order, worst first.
std::optional<std::size_t> worst_pipeline_of(std::size_t host, const Measurements& measurements,
                                             const Judgement& judgement) {
  for (std::size_t index = 0; index < judgement.pipelines.size(); ++index) {
    const PipelineJudgement& judged = judgement.pipelines[index];
    if (judged.host != host || judged.level == InputLevel::unknown) continue;
    const PipelineMeasurement& pipeline = measurements.hosts[host].pipelines[judged.pipeline];
    // One call in a window of arbitrary length has no share that could be compared.
    if (!pipeline.feeds_another && pipeline.has_cadence) return index;
  }
  return std::nullopt;
}

/// Over the values without the one at `left_out`; there is another.
template <typename Value>
Value median_of_others(std::vector<Value> values, std::size_t left_out) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(left_out));
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void find_stragglers(const ThresholdValues& thresholds, HostComparison& comparison) {
  std::vector<Picoseconds> waits;
  std::vector<double> shares;
  for (std::size_t index = 0; index < comparison.compared_count; ++index) {
    waits.push_back(comparison.hosts[index].mean_wait);
    shares.push_back(comparison.hosts[index].input_share);
  }
  for (std::size_t index = 0; index < comparison.compared_count; ++index) {
    ComparedHost& host = comparison.hosts[index];
    host.mean_wait_of_others = median_of_others(waits, index);
    host.input_share_of_others = median_of_others(shares, index);
    host.is_straggler = host.level >= InputLevel::mild && host.wait_ratio() >= thresholds["min_ratio"] &&
                        host.share_above_others() >= thresholds["min_share_above"];
    if (host.is_straggler) ++comparison.straggler_count;
  }
}

std::string describe_straggler(const ComparedHost& host, std::size_t compared_count) {
  const double ratio = host.wait_ratio();
  // Beyond that the others just do not wait.
  const std::string times = ratio < 1'000 ? fmt::format("{:.1f} times", ratio) : "over 1,000 times";
  if (compared_count == 2) return fmt::format("{} is the slower of two hosts: it waits {} as long", host.name, times);
  return fmt::format("{} is the straggler: it waits {} as long as the median of the {} other hosts", host.name, times,
                     compared_count - 1);
}

}  // namespace

std::vector<Threshold> straggler_thresholds() {
  return {
      {"min_ratio", 2, "ratio",
       "minimum wait per GetNext call, as a multiple of the median of the other hosts. Healthy hosts of one job differ "
       "by less, for they run the same pipeline"},
      {"min_share_above", 0.10, "share",
       "by how much its share of the time in GetNext must exceed the median of the others: twice next to nothing is "
       "not "
       "a straggler. Half of the minimum share of an input-bound job"},
  };
}

bool are_windows_of_one_host(const Measurements& measurements) {
  if (measurements.hosts.size() < 2) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;  // from and to, in nanoseconds
  for (const HostMeasurement& host : measurements.hosts) {
    const bool is_known = !host.hosts.empty() && host.recorded_ns > 0;
    if (!is_known || host.name() != measurements.hosts.front().name()) return false;
    windows.emplace_back(host.recorded_ns, host.recorded_ns + host.window / kPicosecondsPerNanosecond);
  }
  std::sort(windows.begin(), windows.end());
  const auto overlap = [](const auto& earlier, const auto& later) { return later.first < earlier.second; };
  return std::adjacent_find(windows.begin(), windows.end(), overlap) == windows.end();
}

HostComparison compare_hosts(const Measurements& measurements, const Judgement& judgement,
                             const ThresholdValues& thresholds) {
  HostComparison comparison;
  comparison.are_windows = are_windows_of_one_host(measurements);
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    ComparedHost& host = comparison.hosts.emplace_back();
    host.host = index;
    host.judgement = worst_pipeline_of(index, measurements, judgement);
    if (!host.judgement) continue;
    const PipelineJudgement& worst = judgement.pipelines[*host.judgement];
    const PipelineMeasurement& pipeline = measurements.hosts[index].pipelines[worst.pipeline];
    host.level = worst.level;
    host.mean_wait = pipeline.trimmed_mean;
    host.input_share = pipeline.input_share();
    ++comparison.compared_count;
  }
  std::vector<std::string> names = names_of_hosts(measurements);
  for (ComparedHost& host : comparison.hosts) host.name = std::move(names[host.host]);
  std::stable_sort(comparison.hosts.begin(), comparison.hosts.end(), [&](const ComparedHost& a, const ComparedHost& b) {
    if (a.level != b.level) return a.level > b.level;
    if (a.mean_wait != b.mean_wait) return a.mean_wait > b.mean_wait;
    return a.name < b.name;
  });
  if (comparison.is_possible() && !comparison.are_windows) find_stragglers(thresholds, comparison);
  return comparison;
}

std::size_t HostComparison::bound_count() const {
  const auto count = std::count_if(hosts.begin(), hosts.end(),
                                   [](const ComparedHost& host) { return host.level == InputLevel::bound; });
  return static_cast<std::size_t>(count);
}

std::string describe_comparison(const HostComparison& comparison) {
  if (!comparison.is_possible()) return {};
  const std::size_t alike = comparison.compared_count - comparison.straggler_count;
  if (comparison.straggler_count == 0) {
    const std::size_t bound = comparison.bound_count();
    if (bound == 0 || bound == comparison.compared_count) {
      return fmt::format("the {} {} wait alike", comparison.compared_count, comparison.noun());
    }
    return fmt::format("{} of {} {} are input-bound, none stands out", bound, comparison.compared_count,
                       comparison.noun());
  }
  if (comparison.straggler_count > 1) {
    return fmt::format("{} of {} hosts wait much longer than the others", comparison.straggler_count,
                       comparison.compared_count);
  }
  const auto straggler = std::find_if(comparison.hosts.begin(), comparison.hosts.end(),
                                      [](const ComparedHost& host) { return host.is_straggler; });
  const std::string text = describe_straggler(*straggler, comparison.compared_count);
  return alike < 2 ? text : fmt::format("{} of {} hosts wait alike; {}", alike, comparison.compared_count, text);
}

}  // namespace doctor
