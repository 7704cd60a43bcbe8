#include "pipeline.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Size in bytes of a file as stored, without opening it; nothing for what has no size before its end, like a pipe.
std::optional<std::uint64_t> stored_size_of(const std::string& file) {
  struct stat status {};
  const bool is_found = (file == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(file.c_str(), &status)) == 0;
  if (!is_found) return 0;  // it will not be read either
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

/// The part of the progress that goes from file to file; the readers fill in what is within one.
class FileProgress {
 public:
  FileProgress(Progress* progress, std::span<const std::string> files) : progress_(progress) {
    if (progress_ == nullptr) return;
    bool is_known = true;
    std::uint64_t total = 0;
    for (const std::string& file : files) {
      const std::optional<std::uint64_t> size = stored_size_of(file);
      is_known = is_known && size.has_value();
      total += size.value_or(0);
    }
    if (is_known) progress_->bytes_total = total;
  }

  void begin_file(std::size_t index) {
    if (progress_ != nullptr) progress_->file_index = index;
  }

  void end_file(const std::string& file, const HostMeasurement& host) {
    if (progress_ == nullptr) return;
    progress_->bytes_read = 0;
    progress_->event_count = 0;
    // What could not be read is done with, too.
    progress_->bytes_before += host.bytes > 0 ? host.bytes : stored_size_of(file).value_or(0);
    progress_->events_before += host.event_count;
  }

 private:
  Progress* progress_;
};

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
  FileProgress progress(work.progress, files);
  for (const std::string& file : files) {
    progress.begin_file(analysis.measurements.hosts.size());
    Result<HostMeasurement> host = measure_file(file, work, analysis.timings);
    if (!host) {
      analysis.unreadable.push_back(host.error());
      host = unreadable_host(file, host.error());
    }
    progress.end_file(file, *host);
    analysis.measurements.hosts.push_back(std::move(*host));
  }
  analysis.diagnosis =
      timed(analysis.timings, work, "diagnose", [&] { return diagnose(analysis.measurements, rules, settings); });
  return analysis;
}

}  // namespace doctor
