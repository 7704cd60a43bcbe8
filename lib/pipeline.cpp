#include "pipeline.h"

#include <system_error>

#include "base/try.h"
#include "io/file_progress.h"
#include "io/trace_folder.h"
#include "measure/host_choice.h"
#include "profile/profile_reader.h"
#include "trace/recording_pairs.h"
#include "trace/repeated_events.h"
#include "trace/torn.h"

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

/// The list of passes over one trace. The trace and its trees end here.
HostMeasurement measure_trace(const Trace& trace, SecondReading reading, const SourceLines& lines,
                              const WorkOptions& work, const TraceNeeds& needs, std::vector<StageTiming>& timings) {
  const IteratorForest forest = timed(timings, work, "build tree", [&] { return build_tree(trace, work); });
  return timed(timings, work, "measure",
               [&] { return measure(trace, forest, work, needs, std::move(reading), lines); });
}

/// Takes the place of a file that could not be read, so that its absence is evidence like any other loss.
HostMeasurement unreadable_host(const std::string& file, const Error& error) {
  HostMeasurement host;
  host.files = {{file, {}, 0}};
  host.loss.add("files_unreadable");
  host.loss.notes.push_back(to_string(error));
  return host;
}

/// Reads and measures the files of a run one after another. Files that are steps of one host's run are joined: their
/// host is measured when all are read, and stands where the first of them was named.
class RunReader {
 public:
  RunReader(std::span<const std::string> files, const WorkOptions& work, const TraceNeeds& needs,
            std::vector<StageTiming>& timings)
      : work_(work), needs_(needs), timings_(timings), outcomes_(files.size()) {
    for (const std::string& file : files) {
      files_.push_back(file_to_read(file));
      ++files_in_folders_[folder_of(file)];
    }
  }

  /// One for each file: its host, or why it could not be read; neither where it was joined with an earlier one.
  struct Outcome {
    std::optional<HostMeasurement> host;
    std::optional<Error> error;
  };

  std::vector<Outcome> read() {
    pairs_ = timed(timings_, work_, "open", [&] { return find_recording_pairs(files_, work_); });
    FileProgress progress(work_.progress, files_);
    for (std::size_t index = 0; index < files_.size(); ++index) {
      progress.begin_file(index);
      const bool is_read_with_another =
          std::any_of(pairs_.begin(), pairs_.end(), [&](const RecordingPair& pair) { return pair.other == index; });
      if (is_read_with_another) continue;
      if (Result<void> read = read_file(index); !read) outcomes_[index].error = std::move(read.error());
      progress.end_file(files_[index]);
    }
    for (auto& of_format : joined_) {
      Joined& joined = of_format.second;
      if (joined.files.empty()) continue;
      Trace trace = timed(timings_, work_, "read", [&] { return joined.joiner->finish(); });
      outcomes_[joined.files.front()].host.emplace(measure_joined(*of_format.first, joined, std::move(trace)));
    }
    return std::move(outcomes_);
  }

 private:
  struct FolderLines {
    std::string folder;
    SourceLines lines;
  };

  struct Joined {
    std::unique_ptr<TraceJoiner> joiner;
    std::unique_ptr<ProfileReader> profile;  ///< null: not wanted
    std::vector<std::size_t> files;          ///< those that could be read
  };

  /// The passes over one file.
  Result<void> read_file(std::size_t index) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                     timed(timings_, work_, "open", [&] { return open_recording(index); }));
    ASSIGN_OR_RETURN(const Format* const format, timed(timings_, work_, "read", [&] { return format_of(*source); }));
    if (format->join != nullptr) return join(index, *format, *source);
    TraceNeeds needs = needs_;
    needs.attribute_history = has_history(index);
    ASSIGN_OR_RETURN(Trace trace,
                     timed(timings_, work_, "read", [&] { return read_trace(*source, *format, work_, needs); }));
    if (read_whole_recording(index, trace)) return {};
    if (work_.progress != nullptr) work_.progress->event_count = trace.event_count;
    name_files_of_pair(index, trace);
    ASSIGN_OR_RETURN(SecondReading again, read_again(*source, *format, trace));
    HostMeasurement& host = outcomes_[index].host.emplace(
        measure_trace(trace, std::move(again), lines_beside(files_[index]), work_, needs_, timings_));
    add_files_beside(index, host);
    return {};
  }

  void add_files_beside(std::size_t index, HostMeasurement& host) {
    if (needs_.attribute_history && !has_history(index)) host.history_limit = needs_.largest_with_history;
    // They are of one process: which of several in a folder they do not say.
    if (!is_alone_in_folder(index)) return;
    host.memory = memory_samples_beside(files_[index]);
    host.recording = recording_facts_beside(files_[index]);
    for (PipelineMeasurement& pipeline : host.pipelines) {
      pipeline.cores_of_others = host.recording.other_load.during.value_or(0);
    }
  }

  /// Reads the XSpace beside a Chrome trace that the profiler cut. False where there is none that can be read.
  bool read_whole_recording(std::size_t index, Trace& trace) {
    const std::optional<XSpaceBeside> xspace = xspace_beside(files_[index]);
    if (!xspace) return false;
    if (xspace->is_empty) {
      trace.loss.add("files_empty");
      trace.loss.notes.push_back(
          xspace->path +
          ": the file is empty, as the profiler leaves it where it would have more than 2 GB, so the "
          "Chrome trace beside it was read: record fewer steps, or with python_tracer_level=0");
      return false;
    }
    if (!trace.loss.counts.contains(std::string(kCutByProfiler))) return false;
    const std::string cut = std::exchange(files_[index], xspace->path);
    if (const Result<void> read = read_file(index); !read) {
      files_[index] = cut;
      return false;
    }
    std::vector<std::string>& notes = outcomes_[index].host->loss.notes;
    for (const std::string& note : trace.loss.notes) notes.push_back(note + ", so it was read");
    return true;
  }

  static std::string folder_of(const std::string& file) { return std::filesystem::path(file).parent_path().string(); }

  bool is_alone_in_folder(std::size_t index) const {
    const std::string folder = folder_of(files_[index]);
    const RecordingPair* const pair = pair_of(index);
    const bool has_pair_in_it = pair != nullptr && folder_of(files_[pair->other]) == folder;
    return files_in_folders_.at(folder) == (has_pair_in_it ? 2U : 1U);
  }

  const RecordingPair* pair_of(std::size_t index) const {
    const auto pair =
        std::find_if(pairs_.begin(), pairs_.end(), [&](const RecordingPair& one) { return one.input == index; });
    return pair == pairs_.end() ? nullptr : &*pair;
  }

  /// The file, and what another profiler recorded of the same process.
  Result<std::unique_ptr<ByteSource>> open_recording(std::size_t index) const {
    Result<std::unique_ptr<ByteSource>> source = open_source(files_[index]);
    const RecordingPair* const pair = pair_of(index);
    if (!source || pair == nullptr) return source;
    Result<std::unique_ptr<ByteSource>> other = open_source(files_[pair->other]);
    if (!other) return other;
    return join_sources(std::move(*source), std::move(*other), pair->shift_ns);
  }

  void name_files_of_pair(std::size_t index, Trace& trace) const {
    const RecordingPair* const pair = pair_of(index);
    if (pair == nullptr || trace.files.empty()) return;
    std::error_code error;  // the size is for information
    TraceFile other = trace.files.front();
    other.path = files_[pair->other];
    const std::uintmax_t bytes = std::filesystem::file_size(other.path, error);
    other.bytes = error ? 0 : bytes;
    trace.files.front().bytes -= std::min(trace.files.front().bytes, other.bytes);
    trace.files.push_back(std::move(other));
  }

  /// The hosts of a run share a folder.
  const SourceLines& lines_beside(const std::string& file) {
    const std::string folder = folder_of(file);
    if (!lines_ || lines_->folder != folder) lines_ = {folder, source_lines_beside(file)};
    return lines_->lines;
  }

  /// Whether the history of attributes is wanted, and the file is not too large for it.
  bool has_history(std::size_t index) const {
    std::error_code error;  // what is not a file has no size, and is not large
    return needs_.attribute_history &&
           (std::filesystem::file_size(files_[index], error) <= needs_.largest_with_history || error);
  }

  /// What the events show beyond the trace, if a page or the diagnosis needs it.
  Result<SecondReading> read_again(ByteSource& source, const Format& format, Trace& trace) {
    SecondReading again;
    const bool is_for_page = needs_.profile && trace.event_count <= needs_.most_profiled_events;
    if (!is_for_page && !needs_profile(trace)) return again;
    const Result<void> read = timed(timings_, work_, "read events", [&] {
      return read_profile(source, format, is_for_page ? *needs_.profile : kDiagnosisParts, trace, quiet_work(),
                          again.devices, again.profile);
    });
    if (!read && is_for_page) return Unexpected(read.error());
    if (!read) note_unread_devices(read.error(), trace);
    return again;
  }

  /// The progress is that of the first reading, which counted these events as well, and those that are lost here.
  WorkOptions quiet_work() const {
    WorkOptions work = work_;
    work.progress = nullptr;
    return work;
  }

  static void note_unread_devices(const Error& error, Trace& trace) {
    trace.loss.add("device_planes_unread");
    trace.loss.notes.push_back(to_string(error));
  }

  /// Its bytes are gone once it was read and closed.
  static Result<std::unique_ptr<ByteSource>> reopen(const std::string& file) {
    if (file != "-") return open_source(file);
    return fail("what the devices did cannot be read from standard input", file, "name the file instead");
  }

  /// What the devices did, of all files of a run that are joined.
  DeviceProfile read_devices(const Format& format, std::span<const std::size_t> files, Trace& trace) {
    DeviceProfiler profiler(std::nullopt);  // files that are joined have clocks of their own
    RepeatedEvents repeats;
    EventsOnce once(profiler, &repeats);
    for (const std::size_t file : files) {
      const Result<void> read = timed(timings_, work_, "read devices", [&]() -> Result<void> {
        ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, reopen(files_[file]));
        return format.read_events(*source, once, WantedPlanes::devices, quiet_work()).map([](const EventTotals&) {});
      });
      if (!read) note_unread_devices(read.error(), trace);
      repeats.end_file();
    }
    return profiler.finish();
  }

  HostMeasurement measure_joined(const Format& format, Joined& joined, Trace trace) {
    SecondReading again;
    if (!trace.devices.empty()) again.devices = read_devices(format, joined.files, trace);
    if (joined.profile) again.profile = joined.profile->finish(trace.origin_ns);
    return measure_trace(trace, std::move(again), {}, work_, needs_, timings_);
  }

  Result<void> join(std::size_t index, const Format& format, ByteSource& source) {
    Joined& joined = joined_[&format];
    if (joined.files.empty()) {
      joined.joiner = format.join();
      if (needs_.profile) joined.profile = std::make_unique<ProfileReader>(*needs_.profile);
    }
    return timed(timings_, work_, "read", [&] {
      Result<void> added = joined.joiner->add(source, work_);
      if (added && joined.profile) added = joined.profile->add(source, format, work_);
      if (added) joined.files.push_back(index);
      return added;
    });
  }

  std::vector<std::string> files_;  ///< that are read, indexed as those that were named
  const WorkOptions& work_;
  const TraceNeeds& needs_;
  std::vector<StageTiming>& timings_;
  std::vector<RecordingPair> pairs_;
  std::map<std::string, std::size_t> files_in_folders_;
  std::vector<Outcome> outcomes_;     ///< indexed as the files
  std::optional<FolderLines> lines_;  ///< those read last
  std::map<const Format*, Joined> joined_;
};

}  // namespace

bool Analysis::has_readable_file() const {
  return std::any_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return !host.loss.counts.contains("files_unreadable"); });
}

Analysis diagnose_files(std::span<const std::string> files, const DiagnosisSetup& setup) {
  Analysis analysis;
  std::vector<RunReader::Outcome> outcomes = RunReader(files, setup.work, setup.needs, analysis.timings).read();
  analysis.measurements.hosts.reserve(files.size() + setup.absent.size());
  for (std::size_t index = 0; index < files.size(); ++index) {
    RunReader::Outcome& outcome = outcomes[index];
    if (outcome.error) {
      outcome.host = unreadable_host(files[index], *outcome.error);
      analysis.unreadable.push_back(std::move(*outcome.error));
    }
    if (outcome.host) analysis.measurements.hosts.push_back(std::move(*outcome.host));
  }
  for (const Error& error : setup.absent) {
    analysis.measurements.hosts.push_back(unreadable_host(error.where, error));
    analysis.unreadable.push_back(error);
  }
  if (setup.host) analysis.host_choice = keep_host(*setup.host, analysis.measurements);
  if (!analysis.host_choice) return analysis;
  analysis.diagnosis = timed(analysis.timings, setup.work, "diagnose", [&] {
    return diagnose(analysis.measurements, setup.rules, setup.thresholds, setup.scope);
  });
  analysis.idle_suppressions = suppress(analysis.diagnosis.findings, setup.suppressions, setup.today);
  return analysis;
}

}  // namespace doctor
