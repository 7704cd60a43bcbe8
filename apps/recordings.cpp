#include "recordings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/try.h"
#include "compare/baseline_store.h"
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

/// A budget may be about several pipelines: the recording exceeds it where one of them does.
void check_all_budgets(const std::vector<Budget>& budgets, const Analysis& analysis, Recordings& recordings) {
  recordings.budgets.resize(budgets.size());
  for (std::vector<BudgetOnRecording>& of_budget : recordings.budgets) of_budget.emplace_back();
  for (const BudgetResult& result : check_budgets(analysis.measurements, analysis.diagnosis, budgets)) {
    for (std::size_t index = 0; index < budgets.size(); ++index) {
      if (!budgets[index].replaces(result.budget)) continue;
      BudgetOnRecording& one = recordings.budgets[index].back();
      if (one.text.empty() || (result.is_exceeded() && !one.is_exceeded)) {
        one.text = describe_budget(analysis.measurements, analysis.diagnosis.judgement, result);
      }
      one.is_exceeded |= result.is_exceeded();
      one.is_evaluated |= result.value.has_value();
    }
  }
}

/// Adds the summary of a run.
void read_run(const Run& recording, const DiagnosisSetup& setup, const std::string& label, bool is_quiet,
              const std::vector<Budget>& budgets, Recordings& recordings) {
  Analysis analysis = diagnose_watched(recording.files, setup, is_quiet);
  for (Error& error : analysis.unreadable) recordings.unreadable.push_back(std::move(error));
  if (!analysis.has_readable_file()) return;
  if (!budgets.empty()) check_all_budgets(budgets, analysis, recordings);
  StoredRun run;
  run.summary = summarize_run(recording.directory, analysis.measurements, analysis.diagnosis);
  if (!recording.files.empty()) add_recording_facts(recording_facts_beside(recording.files.front()), run.summary);
  run.id = identifier_of(run.summary);
  run.label = label;
  add_once(std::move(run), recordings);
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

Result<Recordings> read_recordings(const std::vector<NamedRecordings>& named, const DiagnosisSetup& setup,
                                   const std::string& label, bool is_quiet, const std::vector<Budget>& budgets) {
  DiagnosisSetup for_summary = setup;
  for_summary.needs = summary_needs();
  for_summary.scope = DiagnosisScope::findings;
  Recordings recordings;
  recordings.files = files_of(named);
  std::vector<NamedRecordings> joined = named;
  join_pairs(setup.work, joined);
  for (const NamedRecordings& one : joined) {
    for (const Run& run : one.runs) read_run(run, for_summary, label, is_quiet, budgets, recordings);
    if (!one.is_baseline) continue;
    ASSIGN_OR_RETURN(std::vector<StoredRun> stored, load_baseline(one.path));
    for (StoredRun& run : stored) add_once(std::move(run), recordings);
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
