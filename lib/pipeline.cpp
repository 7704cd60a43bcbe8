#include "pipeline.h"

#include <memory>
#include <utility>

#include "io/byte_source.h"
#include "trace/format.h"
#include "tree/iterator_forest.h"

namespace doctor {
namespace {

/// Runs one stage and adds its time to the timings.
template <typename Stage>
auto timed(std::vector<StageTiming>& timings, const WorkOptions& work, const char* name, Stage stage) {
  if (work.progress != nullptr) work.progress->stage = name;
  const auto begin = std::chrono::steady_clock::now();
  auto result = stage();
  const auto duration = std::chrono::steady_clock::now() - begin;
  for (StageTiming& timing : timings) {
    if (timing.stage != name) continue;
    timing.duration += duration;
    return result;
  }
  timings.push_back({name, duration});
  return result;
}

/// The list of passes over one file. The trace and its trees end here.
Result<HostMeasurement> measure_file(const std::string& file, const WorkOptions& work,
                                     std::vector<StageTiming>& timings) {
  Result<std::unique_ptr<ByteSource>> source = timed(timings, work, "open", [&] { return open_source(file); });
  if (!source) return Unexpected(std::move(source.error()));
  Result<Trace> trace = timed(timings, work, "read", [&] { return read_trace(**source, work); });
  if (!trace) return Unexpected(std::move(trace.error()));
  const IteratorForest forest = timed(timings, work, "build tree", [&] { return build_tree(*trace, work); });
  return timed(timings, work, "measure", [&] { return measure(*trace, forest, work); });
}

/// Stands for a file that could not be read, so that its absence is evidence like any other loss.
HostMeasurement unreadable_host(const std::string& file, const Error& error) {
  HostMeasurement host;
  host.path = file;
  host.loss.add("files_unreadable");
  host.loss.notes.push_back(to_string(error));
  return host;
}

}  // namespace

Analysis analyze(std::span<const std::string> files, std::span<const Rule> rules, const ThresholdSettings& settings,
                 const WorkOptions& work) {
  Analysis analysis;
  for (const std::string& file : files) {
    Result<HostMeasurement> host = measure_file(file, work, analysis.timings);
    if (!host) {
      analysis.unreadable.push_back(host.error());
      host = unreadable_host(file, host.error());
    }
    analysis.measurements.hosts.push_back(std::move(*host));
  }
  analysis.diagnosis =
      timed(analysis.timings, work, "diagnose", [&] { return diagnose(analysis.measurements, rules, settings); });
  return analysis;
}

}  // namespace doctor
