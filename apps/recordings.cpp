#include "recordings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "analysis.h"
#include "compare/baseline_store.h"
#include "io/file_descriptor.h"
#include "io/trace_inputs.h"
#include "process/output.h"

namespace doctor {
namespace {

/// Whether the path is a stored baseline, told by content. Pipes are left alone: what is read of them is gone.
bool is_baseline(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  char head[1024];
  const ssize_t count = ::read(file.number(), head, sizeof(head));
  return count > 0 && sniff_baseline(std::string_view(head, static_cast<std::size_t>(count)));
}

void add(StoredRun run, Recordings& recordings) {
  const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
  if (std::any_of(recordings.runs.begin(), recordings.runs.end(), is_same)) {
    recordings.repeats.push_back(run.summary.source);
    return;
  }
  recordings.runs.push_back(std::move(run));
}

void read_traces(const Options& options, const Run& recording, Recordings& recordings) {
  AnalysisOptions needed;
  needed.read.attribute_history = true;
  needed.measure.call_times = true;
  Analysis analysis = analyze_watched(options, recording.files, needed);
  for (Error& error : analysis.unreadable) recordings.unreadable.push_back(std::move(error));
  if (!analysis.has_readable_file()) return;
  StoredRun run;
  run.summary = summarize_run(recording.directory, analysis.measurements, analysis.diagnosis);
  run.id = identifier_of(run.summary);
  run.label = options.label;
  add(std::move(run), recordings);
}

}  // namespace

Result<Recordings> read_recordings(const Options& options, const std::vector<std::string>& paths) {
  Recordings recordings;
  for (const std::string& path : paths) {
    if (is_baseline(path)) {
      recordings.files.push_back(path);
      Result<std::vector<StoredRun>> stored = load_baseline(path);
      if (!stored) return Unexpected(std::move(stored.error()));
      for (StoredRun& run : *stored) add(std::move(run), recordings);
      continue;
    }
    const Result<std::vector<Run>> runs = list_recordings(path);
    if (!runs) return Unexpected(runs.error());
    for (const Run& run : *runs) {
      recordings.files.insert(recordings.files.end(), run.files.begin(), run.files.end());
      read_traces(options, run, recordings);
    }
  }
  return recordings;
}

void print_missing(const Options& options, const Recordings& recordings) {
  for (const Error& error : recordings.unreadable) print_error(error);
  if (options.quiet) return;
  for (const std::string& repeat : recordings.repeats) {
    print_error({"holds the same as a recording before it, so it does not count", repeat, {}, {}});
  }
}

}  // namespace doctor
