#include "batch/batch.h"

#include <fmt/format.h>

#include <system_error>

#include "base/try.h"
#include "io/file_io.h"
#include "process/interruption.h"
#include "process/progress.h"
#include "process/worker_pool.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};
constexpr std::chrono::seconds kDrawDelay{1};

/// What the program itself and the diagnosis of a small trace take.
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;

/// Of a trace whose SHA-256 all may wait for: that takes a millisecond where the processor has no instructions for it,
/// as long as a process does to start.
constexpr std::uint64_t kMostBriefBytes = std::uint64_t{256} << 10;

/// Of an archive, so many traces are begun before the row of the first one is done: a megabyte of rows.
constexpr std::size_t kMostBegun = 1'000;

class Batch {
 public:
  explicit Batch(const BatchOptions& options) : options_(options), memory_(options.max_memory) {}

  /// Errors: nothing could be begun, or a row could not be stored.
  Result<BatchTally> run() {
    RETURN_IF_ERROR(prepare());
    if (shows_progress_) total_ = count_traces();
    ASSIGN_OR_RETURN(list_, TraceList::open(source()));
    if (options_.tar) {
      ASSIGN_OR_RETURN(archived_, ArchivedTraces::open(*options_.tar, member_folder_, options_.shard));
    }
    const InterruptionGuard guard;
    RETURN_IF_ERROR(work_through());
    return end();
  }

  Result<BatchTally> watch(const WatchOptions& watch) {
    RETURN_IF_ERROR(prepare());
    ASSIGN_OR_RETURN(list_, TraceList::open({}));
    const InterruptionGuard guard;
    TraceWatch traces(watch.every);
    do {
      const std::vector<FoundTrace> found = look(traces.known());
      const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
      std::vector<std::string> whole = traces.take(found, now.count());
      if (whole.empty()) continue;
      for (std::string& path : whole) list_->name(std::move(path));
      RETURN_IF_ERROR(work_through());
    } while (!watch.is_once && wait_unless_interrupted(watch.every));
    tally_.unfinished = traces.unfinished();
    return end();
  }

 private:
  Result<void> prepare() {
    if (std::ranges::find(options_.traces, "-") != options_.traces.end()) {
      ASSIGN_OR_RETURN(standard_input_, store_standard_input());
      // Workers find what was stored under its name in /proc: it has no other.
      if (::access(path_of(standard_input_).c_str(), R_OK) != 0) {
        return fail("standard input cannot be read by a worker without /proc", "-", "store it and name the file");
      }
    }
    ASSIGN_OR_RETURN(std::unique_ptr<RowOutput> rows, RowOutput::open(options_.output, options_.resumes, done_));
    rows_ = std::move(rows);
    warn_of_strange_lines();
    RETURN_IF_ERROR(make_temporary_folders());
    for (const std::string& path : options_.traces) {
      folders_.add_named(path);
      named_.add(path);
    }
    tell_of_sandbox(options_.sandbox, options_.sandbox.is_wanted
                                          ? "each worker: " + describe(available_sandbox(), rules_for_workers())
                                          : "left out by --no-sandbox");
    // For the rows of traces whose worker failed, which this process writes.
    return options_.sandbox.is_wanted ? judge_sandbox(options_.sandbox, available_sandbox()) : Result<void>();
  }

  BatchTally end() {
    status_line().erase();
    tally_.passed_over = list_->passed_over();
    tally_.interrupted_by = interrupting_signal();
    return tally_;
  }

  /// A folder that cannot be read is told and counted once, however often it is looked at.
  std::vector<FoundTrace> look(const PathSet& known) {
    return look_for_traces(options_.traces.front(), known, [this](const Error& error) {
      if (!told_.add(to_string(error))) return;
      ++tally_.unreadable_folders;
      print_error(error);
    });
  }

  /// All that the list names by now.
  Result<void> work_through() {
    RETURN_IF_ERROR(run_all());
    RETURN_IF_ERROR(append_all(order_.take_all()));
    return run_again();
  }

  /// What can be read once only is kept in temporary files: that of a pipe by the worker that reads it, members of an
  /// archive by this process.
  Result<void> make_temporary_folders() {
    std::vector<std::string> folders;
    if (options_.tar) {
      member_folder_ = make_private_folder(temporary_directory());
      if (member_folder_.empty()) return Unexpected(path_error(temporary_directory(), errno));
      folders.push_back(member_folder_);
      folders_.add_named(member_folder_);
    }
    const bool is_spooled = std::ranges::any_of(options_.traces, [](const std::string& path) {
      std::error_code error;
      return path != "-" && std::filesystem::is_other(path, error);
    });
    if (is_spooled && options_.sandbox.is_wanted) {
      temporary_folder_ = make_private_folder(temporary_directory(), "TMPDIR");
      if (!temporary_folder_.empty()) folders.push_back(temporary_folder_);
    }
    return folders.empty() ? Result<void>() : start_output_broker({.temporary_folders = std::move(folders)});
  }

  TraceList::Source source() const { return {options_.traces, options_.files_from, options_.path_end, options_.shard}; }

  void warn_of_strange_lines() const {
    if (rows_->strange_lines() == 0 || options_.quiet) return;
    print_error({fmt::format("left {} unchanged that cannot be read as rows; the first is line {}",
                             format_count(rows_->strange_lines(), "line"), rows_->first_strange_line()),
                 options_.output,
                 {},
                 {}});
  }

  /// Reads no trace. Not possible where their names come from a pipe.
  std::optional<std::uint64_t> count_traces() const {
    if (options_.files_from == "-" || options_.tar) return std::nullopt;
    const Result<std::unique_ptr<TraceList>> list = TraceList::open(source());
    if (!list) return std::nullopt;
    std::uint64_t count = 0;
    while (const std::optional<Result<std::string>> trace = (*list)->next()) count += *trace ? 1U : 0U;
    return count;
  }

  std::size_t worker_count() const {
    return std::min<std::size_t>(options_.jobs, std::max<std::uint64_t>(1, memory_.bytes / kLeastMemory));
  }

  WorkerPool make_pool(std::size_t workers) const {
    const std::uint64_t share = memory_.bytes / workers;
    return {[this](const std::string& path) {
              return encode(diagnose_trace(options_.setup, {options_.fail_on, options_.budgets},
                                           {input_of(path), name_of(path)}));
            },
            {workers, options_.time_limit, [this, share] { return prepare_worker(share); },
             [this](const std::string& path) { return sha256_of(file_to_read(input_of(path))); },
             standard_input_.number()}};
  }

  Result<void> prepare_worker(std::uint64_t share) const {
    RETURN_IF_ERROR(limit_memory({share, memory_.words, memory_.is_given}));
    if (!options_.sandbox.is_wanted) return {};
    return judge_sandbox(options_.sandbox, enter_sandbox(rules_for_workers()));
  }

  /// A worker writes nothing but to its parent.
  SandboxRules rules_for_workers() const {
    SandboxRules rules;
    rules.readable = folders_.list();
    if (standard_input_.is_open()) rules.readable.push_back(path_of(standard_input_));
    // What can be read once only is kept in a temporary file.
    if (!temporary_folder_.empty()) rules.writable_folders.push_back(temporary_folder_);
    return rules;
  }

  Result<void> run_all() {
    WorkerPool pool = make_pool(worker_count());
    keeps_large_ones_ = worker_count() > 1;
    is_first_try_ = true;
    return work_off(pool, [&] { return next_trace(); });
  }

  /// What did not fit into a worker's share gets all of the memory, alone: how many workers there are changes no row.
  /// So does what was killed, as a machine without memory left does it.
  Result<void> run_again() {
    if (again_.empty()) return {};
    WorkerPool pool = make_pool(1);
    keeps_large_ones_ = false;
    is_first_try_ = false;
    std::vector<std::string> traces = std::exchange(again_, {});
    std::size_t index = 0;
    return work_off(pool, [&] { return index < traces.size() ? std::optional(traces[index++]) : next_trace(); });
  }

  std::optional<Result<std::string>> next_in_list() {
    if (found_.empty()) {
      std::optional<Result<std::string>> trace = list_->next();
      if (trace || !archived_) return trace;
      trace = archived_->next(list_->passed_over());
      tally_.is_archive_broken = tally_.is_archive_broken || (trace && !*trace);
      return trace;
    }
    std::string trace = std::move(found_.back());
    found_.pop_back();
    return Result<std::string>(std::move(trace));
  }

  std::optional<std::string> next_trace() {
    while (std::optional<Result<std::string>> trace = next_in_list()) {
      if (!*trace && interrupting_signal() != 0) break;
      if (!*trace) {
        tally_.unreadable_folders += tally_.is_archive_broken ? 0 : 1;
        print_error(trace->error());
      } else if (done_.take(name_of(**trace))) {
        ++tally_.skipped;
        remove_if_unpacked(**trace);
      } else {
        return **trace;
      }
    }
    return std::nullopt;
  }

  /// Empty if it is not known: what can be read once only is for the worker.
  static std::string sha256_of(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ? sha256_of_file(path).value_or("") : "";
  }

  Result<void> work_off(WorkerPool& pool, const std::function<std::optional<std::string>()>& next) {
    while (interrupting_signal() == 0) {
      while (pool.has_room() && order_.size() < kMostBegun) {
        std::optional<std::string> trace = next();
        if (!trace) break;
        if (options_.sandbox.is_wanted && !folders_.take(input_of(*trace))) pool.renew_workers();
        const bool is_brief = stored_bytes(input_of(*trace)) <= kMostBriefBytes;
        if (is_archived(*trace) && is_first_try_) order_.begin(*trace);
        RETURN_IF_ERROR(pool.start(std::move(*trace), is_brief ? TaskLength::brief : TaskLength::unknown));
      }
      if (!pool.has_tasks()) return {};
      for (FinishedTask& task : pool.wait(kDrawInterval)) {
        // What the same signal ended did not crash.
        if (interrupting_signal() != 0 && !task.result) continue;
        RETURN_IF_ERROR(take(std::move(task), pool));
      }
      draw();
    }
    return {};
  }

  Result<void> take(FinishedTask task, WorkerPool& pool) {
    const bool may_pass = (task.failure == TaskFailure::out_of_memory && keeps_large_ones_) ||
                          (task.failure == TaskFailure::killed && is_first_try_);
    if (!task.result && may_pass) {
      again_.push_back(task.task);
      return append_all(order_.forget(task.task));
    }
    if (!task.result) return append(task.task, failed(task));
    std::optional<DiagnosedTrace> diagnosed = decode_diagnosed_trace(*task.result);
    if (!diagnosed || !may_be_beside(task.task, diagnosed->beside)) {
      pool.renew_workers();  // whatever took one over is to have no other trace
      task.failure = TaskFailure::crashed;
      task.last_words = "gave an answer that no diagnosis gives";
      return append(task.task, failed(task));
    }
    return take(task, *std::move(diagnosed));
  }

  /// Whether there is none, or a worker may read it: what a trace that took one over names must lead to nothing else.
  bool may_be_beside(const std::string& trace, const std::string& beside) const {
    if (beside.empty()) return true;
    const bool may_be_read = !options_.sandbox.is_wanted || folders_.knows(beside);
    return doctor::may_be_beside(input_of(trace), beside) && stored_bytes(beside) > 0 && may_be_read;
  }

  /// Tests whether neither the user nor its name says that a file is a trace.
  bool is_guess(const std::string& task) const {
    const std::string path = name_of(task);
    const bool is_named = !is_archived(task) && (options_.files_from || named_.contains(task));
    return !is_named && !as_trace_file(path.substr(path.rfind('/') + 1));
  }

  Result<void> take(const FinishedTask& task, DiagnosedTrace diagnosed) {
    if (diagnosed.exit_code == kExitFailure && is_guess(task.task)) {
      list_->passed_over().add(name_of(task.task));
      return append(task.task, {});
    }
    if (!diagnosed.row) {
      ++tally_.beside_another;
      if (list_->add(diagnosed.beside)) found_.push_back(diagnosed.beside);
      return append(task.task, {});
    }
    tally_.add(diagnosed);
    tell_budgets(name_of(task.task), diagnosed.budgets);
    diagnosed.row->file = file_of(task);
    if (!diagnosed.beside.empty()) diagnosed.row->file.bytes += stored_bytes(diagnosed.beside);
    return append(task.task, render_row(*diagnosed.row));
  }

  /// What this process knows of it, whatever a worker says.
  RowFile file_of(const FinishedTask& task) const {
    return {name_of(task.task), stored_bytes(file_to_read(input_of(task.task))), task.note};
  }

  /// Of a task that is done. It has no row if it is empty.
  Result<void> append(const std::string& task, std::string row) {
    remove_if_unpacked(task);
    return append_all(order_.take(task, std::move(row)));
  }

  Result<void> append_all(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
      RETURN_IF_ERROR(rows_->append(row));
      if (options_.tell_row) options_.tell_row(row);
    }
    return {};
  }

  void remove_if_unpacked(const std::string& task) const {
    if (is_archived(task)) ::unlink(input_of(task).c_str());
  }

  /// A row has no place for them.
  void tell_budgets(const std::string& trace, std::string_view lines) const {
    for (; !options_.quiet && !lines.empty(); lines.remove_prefix(lines.find('\n') + 1)) {
      print_error({"budget: " + std::string(lines.substr(0, lines.find('\n'))), trace, {}, {}});
    }
  }

  /// The row of a trace whose worker failed, which is counted.
  std::string failed(const FinishedTask& task) {
    const std::string error = tally_.add_failed(task, options_.time_limit, memory_.words);
    return render_row(failed_row(file_of(task), error));
  }

  std::string input_of(const std::string& task) const {
    return task == "-" ? path_of(standard_input_) : task.substr(0, task.find('\0'));
  }
  std::string name_of(const std::string& task) const {
    return task == "-" && options_.name ? *options_.name : task.substr(task.find('\0') + 1);
  }

  void draw() {
    const auto now = std::chrono::steady_clock::now();
    if (!shows_progress_ || now - begin_ < kDrawDelay || now - drawn_ < kDrawInterval) {
      return;
    }
    drawn_ = now;
    status_line().show(batch_progress_line(tally_, total_, now - begin_, status_line().width()));
  }

  const BatchOptions& options_;
  const MemoryLimit& memory_;
  const bool shows_progress_ = !options_.tell_row && wants_progress_bar(options_.quiet, STDERR_FILENO);
  FileDescriptor standard_input_;
  TraceFolders folders_;
  std::string temporary_folder_;  ///< of the workers; empty: none
  std::string member_folder_;     ///< of members of an archive; empty: none
  DoneTraces done_;
  std::unique_ptr<TraceList> list_;
  std::unique_ptr<ArchivedTraces> archived_;
  RowOrder order_;                  ///< of the rows of an archive
  std::vector<std::string> found_;  ///< beside traces of the list, and not in it
  std::unique_ptr<RowOutput> rows_;
  std::optional<std::uint64_t> total_;
  BatchTally tally_;
  PathSet named_;  ///< traces and folders of the command line
  PathSet told_;   ///< errors of folders
  bool keeps_large_ones_ = false;
  bool is_first_try_ = true;
  std::vector<std::string> again_;  ///< traces that are tried once more, alone
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = begin_;
};

}  // namespace

Result<BatchTally> diagnose_batch(const BatchOptions& options) {
  return Batch(options).run();
}

Result<BatchTally> watch_batch(const BatchOptions& options, const WatchOptions& watch) {
  return Batch(options).watch(watch);
}

}  // namespace doctor
