#include "process/timings.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>

#include "text/numbers.h"

namespace doctor {
namespace {

std::string line(std::string_view name, std::chrono::nanoseconds duration, std::string_view remark = {}) {
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  return fmt::format("{:<32}{:>10.3f} ms{}{}\n", name, milliseconds, remark.empty() ? "" : "   ", remark);
}

/// "40.9 MB/s as stored, 606,123 events/s".
std::string speed(std::uint64_t bytes, std::uint64_t events, std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds <= 0) return {};
  return fmt::format("{:.1f} MB/s as stored, {} events/s", static_cast<double>(bytes) / 1e6 / seconds,
                     format_count(static_cast<std::uint64_t>(std::llround(static_cast<double>(events) / seconds))));
}

std::string reading_speed(const Measurements& measurements, std::chrono::nanoseconds duration) {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const TraceFile& file : host.files) bytes += file.bytes;
    events += host.event_count;
  }
  return speed(bytes, events, duration);
}

/// The most memory in bytes that was resident. Not from getrusage() where there is /proc: that one begins with the
/// peak of the process that started us.
std::uint64_t peak_memory() {
  constexpr std::string_view kPeak = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);) {
    if (text.starts_with(kPeak)) return std::stoull(text.substr(kPeak.size())) * 1024;
  }
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

std::string peak_line(unsigned threads) {
  return fmt::format("{:<32}{:>10.3f} MB   {}\n", "peak memory", static_cast<double>(peak_memory()) / 1e6,
                     format_count(threads, "thread"));
}

}  // namespace

std::string render_conversion_timings(const Conversion& conversion, std::chrono::nanoseconds duration,
                                      unsigned threads) {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  for (const ConvertedFile& converted : conversion.files) {
    bytes += converted.file.bytes;
    events += converted.event_count;
  }
  return line("read and write", duration, speed(bytes, events, duration)) + peak_line(threads);
}

std::string render_query_timings(const Progress& progress, std::chrono::nanoseconds loaded,
                                 std::chrono::nanoseconds asked, unsigned threads) {
  return line("load", loaded, speed(progress.bytes_before, progress.events_before, loaded)) + line("query", asked) +
         peak_line(threads);
}

std::string render_timings(const Analysis& analysis, std::chrono::nanoseconds rendered, unsigned threads) {
  std::string text;
  for (const StageTiming& timing : analysis.timings) {
    text += line(timing.stage, timing.duration,
                 timing.stage == "read" ? reading_speed(analysis.measurements, timing.duration) : "");
  }
  for (const RuleTiming& timing : analysis.diagnosis.timings) text += line("  " + timing.rule, timing.duration);
  text += line("render and write", rendered);
  return text + peak_line(threads);
}

}  // namespace doctor
