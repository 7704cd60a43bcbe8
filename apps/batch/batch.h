#pragma once

#include "base/result.h"
#include "batch/trace_list.h"
#include "diagnose/budget.h"
#include "diagnose/finding.h"
#include "fleet/trace_row.h"
#include "io/file_descriptor.h"
#include "io/tar_reader.h"
#include "pipeline.h"
#include "process/process_limits.h"
#include "reading_sandbox.h"

namespace doctor {

/// The result for one trace of a batch.
struct DiagnosedTrace {
  int exit_code = 0;  ///< the exit status that `diagnose` would have, see process/output.h
  VerdictStatus status = VerdictStatus::inconclusive;
  /// True if no budget is exceeded, and one could not be evaluated on any pipeline.
  bool has_open_budget = false;
  std::string budgets;  ///< exceeded and unevaluated budgets: a line each, with foreign text
  std::string beside;   ///< the file of the other profiler that recorded the same process; empty: none
  /// the row of both files; nullopt if the row of the other file covers this one
  std::optional<TraceRow> row = std::nullopt;
};

/// The result as text that a worker process hands to its parent.
std::string encode(const DiagnosedTrace& trace);

/// Reads the text back as untrusted input: a trace may have taken the worker over. nullopt if it cannot be a result.
std::optional<DiagnosedTrace> decode_diagnosed_trace(std::string_view text);

/// Tests whether an answer may be about this file: the other one lies in its folder and has the name of a trace.
bool may_be_beside(const std::string& file, const std::string& other);

/// Size of a file as stored; 0 if it is not known.
std::uint64_t stored_bytes(const std::string& path);

/// A trace of a batch.
struct BatchInput {
  std::string input;  ///< the path it is read from
  std::string path;   ///< the path in its row
};

/// What a trace is judged by.
struct TraceGate {
  std::optional<Severity> fail_on;
  std::span<const Budget> budgets;
};

/// Diagnoses one trace, together with JAX's recording of its process if that lies beside it. The parent fills in the
/// row's columns about the file itself.
DiagnosedTrace diagnose_trace(const DiagnosisSetup& setup, const TraceGate& gate, const BatchInput& trace);

/// The traces in a tar archive, one after another, each unpacked into a file of its own until it is diagnosed: at most
/// as many files as there are tasks. Members that are not traces are passed over as files of a folder are.
class ArchivedTraces {
 public:
  /// Opens an archive; "-" is standard input. Its members are unpacked into `folder`, under numbers. Errors: it cannot
  /// be opened.
  static Result<std::unique_ptr<ArchivedTraces>> open(const std::string& archive, std::string folder,
                                                      const Shard& shard);

  /// The next trace, as the path that it is unpacked to, a zero byte and its name in the archive; or the error after
  /// which there is no other. nullopt at the end.
  std::optional<Result<std::string>> next(PassedOver& passed_over);

 private:
  ArchivedTraces(TarReader archive, std::string folder, const Shard& shard)
      : archive_(std::move(archive)), folder_(std::move(folder)), shard_(shard) {}

  Result<std::string> unpack(const TarMember& member);

  TarReader archive_;
  std::string folder_;
  Shard shard_;
  std::uint64_t unpacked_ = 0;
};

/// Tests whether a task of a batch is a trace of an archive.
inline bool is_archived(std::string_view task) {
  return task.find('\0') != std::string_view::npos;
}

/// Puts rows in the order in which their traces were begun, whichever is done first.
class RowOrder {
 public:
  void begin(std::string task) { tasks_.emplace_back(std::move(task), std::nullopt); }

  /// Takes the row of a task that was begun, empty if it gets none. Returns the rows that wait for no other task now.
  std::vector<std::string> take(const std::string& task, std::string row);

  /// Forgets a task: it gets a row later. Returns the rows that wait for no other task now.
  std::vector<std::string> forget(const std::string& task);

  /// The rows that still wait, in order.
  std::vector<std::string> take_all();

  /// The number of tasks from the first one without a row on.
  std::size_t size() const { return tasks_.size(); }

 private:
  using Task = std::pair<std::string, std::optional<std::string>>;

  std::deque<Task>::iterator find(const std::string& task);
  std::vector<std::string> take_first();

  std::deque<Task> tasks_;  ///< with their rows, where these are done
};

struct FinishedTask;

/// The totals of a batch so far.
struct BatchTally {
  std::array<std::uint64_t, 4> verdicts{};  ///< indexed by VerdictStatus, for traces that could be read
  std::uint64_t traces = 0;                 ///< traces with a row
  std::uint64_t with_findings = 0;          ///< traces with a finding at or above --fail-on, or with an exceeded budget
  std::uint64_t with_open_budgets = 0;      ///< traces with a budget that could not be evaluated
  std::uint64_t unreadable = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t out_of_memory = 0;
  std::uint64_t crashed = 0;
  std::uint64_t skipped = 0;             ///< traces that were in the output already
  std::uint64_t beside_another = 0;      ///< traces of a process whose row is that of another file
  std::uint64_t unreadable_folders = 0;  ///< folders without a row
  bool is_archive_broken = false;        ///< an archive could not be read to its end
  std::uint64_t unfinished = 0;          ///< for `watch`: traces that were still being written at the end
  PassedOver passed_over = {};           ///< files of folders that are not traces
  int interrupted_by = 0;                ///< the signal that ended the batch early; 0: none

  void add(const DiagnosedTrace& trace);

  /// Counts a trace whose worker failed. Returns the reason; `memory` is the limit in words.
  std::string add_failed(const FinishedTask& task, std::optional<std::chrono::seconds> time_limit,
                         const std::string& memory);

  /// Traces without a diagnosis.
  std::uint64_t errors() const { return unreadable + timed_out + out_of_memory + crashed; }
};

/// The exit status: kExitFailure if anything could not be diagnosed, else kExitFinding if anything was found, else
/// kExitNothing if no trace showed an input pipeline, or if a budget could not be evaluated on one that did.
int exit_code_of(const BatchTally& tally);

/// "10,000 traces in 55 s (181 a second): 4,210 input-bound, …": the closing lines. `duration` is that of the work;
/// nullopt if there was mostly none.
std::string render_summary(const BatchTally& tally, std::optional<std::chrono::nanoseconds> duration);

/// The line that a terminal shows meanwhile, of at most `width` characters. `total` is the number of traces, if it is
/// known.
std::string batch_progress_line(const BatchTally& tally, std::optional<std::uint64_t> total,
                                std::chrono::nanoseconds duration, std::size_t width);

/// The traces that have a row already. JSON is UTF-8, so other bytes of a path are U+FFFD in its row. Of several paths
/// that become equal that way, as many count as done as there are rows, in the order of the list.
class DoneTraces {
 public:
  /// Adds a path as its row has it.
  void add(const std::string& path_in_row);

  /// Tests whether the trace has a row, which then counts for no other path.
  bool take(const std::string& path);

 private:
  PathSet paths_;
  std::map<std::string, std::size_t> inexact_;  ///< number of rows by path, for paths with a U+FFFD
};

/// The NDJSON file that rows are appended to, or standard output. Each row is handed to the kernel in one piece as soon
/// as it is made, so that it is kept if the program is killed.
class RowOutput {
 public:
  /// Opens the output; "" and "-" are standard output. An existing file is an error unless `resumes`: then the paths of
  /// its rows are put into `done`, and an incomplete last line is removed. Errors: an existing file, a file that holds
  /// something but no row, one that cannot be read or written, and another process that writes rows to the file.
  static Result<std::unique_ptr<RowOutput>> open(const std::string& path, bool resumes, DoneTraces& done);

  /// Appends a row. Errors: the row was not stored.
  Result<void> append(std::string_view row);

  /// The number of lines in the resumed file that are not rows, and the number of the first of them, from 1.
  std::size_t strange_lines() const { return strange_lines_; }
  std::size_t first_strange_line() const { return first_strange_line_; }

 private:
  RowOutput() = default;
  Result<void> resume(DoneTraces& done);
  void take_line(std::string_view line, std::size_t number, DoneTraces& done);

  std::string where_;
  FileDescriptor file_;
  bool is_log_ = false;     ///< output is the log of a CI job, which acts on what is printed
  bool is_locked_ = false;  ///< nobody else writes to the file
  bool is_new_ = false;     ///< the file was made for these rows
  std::size_t row_count_ = 0;
  std::size_t strange_lines_ = 0;
  std::size_t first_strange_line_ = 0;
};

/// The options of `batch`.
struct BatchOptions {
  std::vector<std::string> traces;  ///< files, directories, "-"
  std::optional<std::string> files_from;
  char path_end = '\n';            ///< ends each path in that file
  std::optional<std::string> tar;  ///< an archive of traces; "-" is standard input
  Shard shard;
  std::optional<std::string> name;  ///< of the trace on standard input
  std::string output;               ///< file of rows; empty or "-" is standard output
  bool resumes = false;
  std::size_t jobs = 1;
  std::optional<std::chrono::seconds> time_limit;  ///< of one trace
  MemoryLimit max_memory;                          ///< of all workers together
  std::optional<Severity> fail_on;                 ///< nullopt: never
  std::vector<Budget> budgets;                     ///< budgets that each trace is held against
  DiagnosisSetup setup;
  SandboxChoice sandbox;  ///< of the workers
  bool quiet = false;
  /// Called with every row when it is stored; then no progress is shown. May be empty.
  std::function<void(std::string_view row)> tell_row = {};
};

/// The further options of `watch`. The one path of BatchOptions::traces is the directory that it follows.
struct WatchOptions {
  std::chrono::milliseconds every{};  ///< from the end of one pass to the next look
  bool is_once = false;               ///< end after one pass
};

/// Diagnoses every trace in a worker process and writes its row. Ctrl-C ends it early, after a complete row. Errors:
/// nothing could be started, or a row could not be stored.
Result<BatchTally> diagnose_batch(const BatchOptions& options);

/// The same for the traces below a directory, as they appear, each when it is complete (TraceWatch). Ends after one
/// pass, or when a signal comes.
Result<BatchTally> watch_batch(const BatchOptions& options, const WatchOptions& watch);

}  // namespace doctor
