#include "recordings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/parallel.h"
#include "base/try.h"
#include "compare/baseline_store.h"
#include "io/file_progress.h"
#include "report/report.h"
#include "trace/recording_pairs.h"

namespace doctor {
namespace {

/// Whether the path is a stored baseline, by its content. Pipes are left alone: what is read of them is gone.
bool is_baseline(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  char head[1024];
  const ssize_t count = ::read(file.number(), head, sizeof(head));
  return count > 0 && sniff_baseline(std::string_view(head, static_cast<std::size_t>(count)));
}

void add_once(StoredRun run, Recordings& recordings) {
  const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
  if (std::ranges::any_of(recordings.runs, is_same)) {
    recordings.repeats.push_back(run.summary.source);
    return;
  }
  recordings.runs.push_back(std::move(run));
}

/// Two recordings of one process that were named one by one, or lie in a folder of recordings, are one.
void join_pairs(const WorkOptions& work, std::vector<NamedRecordings>& named) {
  std::vector<Run*> single;
  std::vector<std::string> files;
  for (NamedRecordings& one : named) {
    for (Run& run : one.runs) {
      if (run.files.size() != 1 || run.files.front() == "-") continue;
      single.push_back(&run);
      files.push_back(run.files.front());
    }
  }
  for (const RecordingPair& pair : find_recording_pairs(files, work)) {
    single[pair.input]->files.push_back(files[pair.other]);
    single[pair.other]->files.clear();
  }
  for (NamedRecordings& one : named) std::erase_if(one.runs, [](const Run& run) { return run.files.empty(); });
}

/// A budget may be about several pipelines: the recording exceeds it where one of them does. Indexed as the budgets.
std::vector<BudgetOnRecording> check_all_budgets(const std::vector<Budget>& budgets, const Analysis& analysis) {
  std::vector<BudgetOnRecording> checked(budgets.size());
  for (const BudgetResult& result : check_budgets(analysis.measurements, analysis.diagnosis, budgets)) {
    for (std::size_t index = 0; index < budgets.size(); ++index) {
      if (!budgets[index].replaces(result.budget)) continue;
      BudgetOnRecording& one = checked[index];
      if (one.text.empty() || (result.is_exceeded() && !one.is_exceeded)) {
        one.text = describe_budget(analysis.measurements, analysis.diagnosis.judgement, result);
      }
      one.is_exceeded |= result.is_exceeded();
      one.is_evaluated |= result.value.has_value();
    }
  }
  return checked;
}

/// A recording that is to be read, and what comes of it.
struct ReadRun {
  ReadRun(const Run& to_read, const RecordingSide& its_side) : recording(&to_read), side(&its_side) {
    for (const std::string& file : to_read.files) {
      const std::optional<std::uint64_t> size = stored_size_of(file);
      has_size = has_size && size.has_value();
      bytes += size.value_or(0);
    }
  }

  const Run* recording;
  const RecordingSide* side;
  std::uint64_t bytes = 0;            ///< of its files, as stored
  bool has_size = true;               ///< false: one of them is a pipe
  std::optional<StoredRun> run = {};  ///< none: no file of it could be read
  std::vector<Error> unreadable = {};
  std::vector<BudgetOnRecording> budgets = {};
};

void read_run(const DiagnosisSetup& setup, ReadRun& read) {
  const Run& recording = *read.recording;
  Analysis analysis = diagnose_files(recording.files, setup);
  read.unreadable = std::move(analysis.unreadable);
  if (!analysis.has_readable_file()) return;
  read.budgets = check_all_budgets(read.side->budgets, analysis);
  StoredRun& run = read.run.emplace();
  run.summary = summarize_run(recording.directory, analysis.measurements, analysis.diagnosis);
  if (!recording.files.empty()) add_recording_facts(recording_facts_beside(recording.files.front()), run.summary);
  run.id = identifier_of(run.summary);
  run.label = read.side->label;
}

/// Reads small recordings side by side. Larger ones are read one after another, each by all threads: several at once
/// would take several times the memory.
void read_runs(const ReadingOptions& reading, bool is_quiet, DiagnosisSetup setup, std::vector<ReadRun>& runs) {
  constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{16} << 20;
  std::uint64_t bytes = 0;
  // Under a limit that the user set, fewer recordings at once may be all that fit.
  bool are_small = runs.size() > 1 && setup.work.threads > 1 && !reading.max_memory.is_given;
  for (const ReadRun& run : runs) {
    are_small = are_small && run.has_size && run.bytes <= kMostBytesAtOnce;
    bytes += run.bytes;
  }
  if (!are_small) {
    for (ReadRun& run : runs) {
      run_watched(run.recording->files, is_quiet, [&](Progress& progress) {
        setup.work.progress = &progress;
        read_run(setup, run);
      });
    }
    return;
  }
  const auto at_once = static_cast<unsigned>(std::min<std::size_t>(setup.work.threads, runs.size()));
  setup.work.threads /= at_once;
  run_watched({fmt::format("{} recordings", runs.size())}, is_quiet, [&](Progress& progress) {
    progress.stage = "read";
    progress.bytes_total = bytes;
    run_parallel(at_once, runs.size(), [&](std::size_t index) {
      read_run(setup, runs[index]);
      progress.bytes_before += runs[index].bytes;
    });
  });
}

void add_read(ReadRun read, Recordings& recordings) {
  for (Error& error : read.unreadable) recordings.unreadable.push_back(std::move(error));
  if (!read.run) return;
  recordings.budgets.resize(read.budgets.size());
  for (std::size_t index = 0; index < read.budgets.size(); ++index) {
    recordings.budgets[index].push_back(std::move(read.budgets[index]));
  }
  add_once(*std::move(read.run), recordings);
}

}  // namespace

Result<std::vector<NamedRecordings>> find_recordings(const std::vector<std::string>& paths) {
  std::vector<NamedRecordings> named;
  for (const std::string& path : paths) {
    NamedRecordings found = {path, is_baseline(path), {}};
    if (!found.is_baseline) {
      ASSIGN_OR_RETURN(found.runs, list_recordings(path));
    }
    named.push_back(std::move(found));
  }
  return named;
}

std::vector<std::string> files_of(const std::vector<NamedRecordings>& named) {
  std::vector<std::string> files;
  for (const NamedRecordings& one : named) {
    if (one.is_baseline) files.push_back(one.path);
    for (const Run& run : one.runs) files.insert(files.end(), run.files.begin(), run.files.end());
  }
  return files;
}

Result<std::vector<Recordings>> read_recordings(std::vector<RecordingSide> sides, const ReadingOptions& reading,
                                                bool is_quiet) {
  DiagnosisSetup setup = reading.setup;
  setup.needs = summary_needs();
  setup.scope = DiagnosisScope::findings;
  std::vector<Recordings> recordings(sides.size());
  std::vector<ReadRun> runs;
  for (std::size_t index = 0; index < sides.size(); ++index) {
    recordings[index].files = files_of(sides[index].named);
    join_pairs(setup.work, sides[index].named);
    for (const NamedRecordings& one : sides[index].named) {
      for (const Run& run : one.runs) runs.emplace_back(run, sides[index]);
    }
  }
  read_runs(reading, is_quiet, std::move(setup), runs);
  auto read = runs.begin();
  for (std::size_t index = 0; index < sides.size(); ++index) {
    for (const NamedRecordings& one : sides[index].named) {
      for (std::size_t run = 0; run < one.runs.size(); ++run) add_read(std::move(*read++), recordings[index]);
      if (!one.is_baseline) continue;
      ASSIGN_OR_RETURN(std::vector<StoredRun> stored, load_baseline(one.path));
      for (StoredRun& run : stored) add_once(std::move(run), recordings[index]);
    }
  }
  return recordings;
}

void print_missing(const Recordings& recordings, bool is_quiet) {
  for (const Error& error : recordings.unreadable) print_error(error);
  if (is_quiet) return;
  for (const std::string& repeat : recordings.repeats) {
    print_error({"holds the same as a recording before it, so it does not count", repeat, {}, {}});
  }
}

}  // namespace doctor
