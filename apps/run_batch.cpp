#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/batch_tally.h"
#include "batch/row_output.h"
#include "batch/trace_list.h"
#include "batch/trace_worker.h"
#include "commands.h"
#include "fleet/trace_row.h"
#include "io/stored_input.h"
#include "process/exit_code.h"
#include "process/machine_memory.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "process/progress_bar.h"
#include "process/worker_pool.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};
constexpr std::chrono::seconds kDrawDelay{1};

/// What a diagnosis of a small trace takes, and the program itself (shared anchors: 48 MB and a part of the trace).
constexpr std::uint64_t kLeastMemory = std::uint64_t{64} << 20;

/// The memory of all workers together.
struct BatchMemory {
  std::uint64_t bytes = 0;
  std::string words;  ///< "--max-memory 2G allows"
};

BatchMemory memory_of(const Options& options) {
  if (options.max_memory) return {options.max_memory->bytes, "--max-memory " + options.max_memory->text + " allows"};
  // The rest is for the page cache, through which all traces go.
  const std::uint64_t bytes = machine_memory() / 4 * 3;
  return {bytes, fmt::format("three quarters of this machine's, {} MiB", bytes >> 20)};
}

class Batch {
 public:
  Batch(const Options& options, BatchMemory memory) : options_(options), memory_(std::move(memory)) {}

  /// Errors: nothing could be begun, or a row could not be stored.
  Result<BatchTally> run() {
    if (std::find(options_.traces.begin(), options_.traces.end(), "-") != options_.traces.end()) {
      Result<FileDescriptor> stored = store_standard_input();
      if (!stored) return Unexpected(std::move(stored.error()));
      standard_input_ = std::move(*stored);
    }
    Result<std::unique_ptr<RowOutput>> rows = RowOutput::open(options_.output, options_.batch.resumes, done_);
    if (!rows) return Unexpected(std::move(rows.error()));
    rows_ = std::move(*rows);
    tell_strange_lines();
    if (shows_progress_) total_ = count_traces();
    if (Result<void> first = run_all(); !first) return Unexpected(std::move(first.error()));
    if (Result<void> second = run_large_ones(); !second) return Unexpected(std::move(second.error()));
    status_line().erase();
    return tally_;
  }

 private:
  TraceList::Source source() const { return {options_.traces, options_.batch.files_from, options_.batch.shard}; }

  void tell_strange_lines() const {
    if (rows_->strange_lines() == 0 || options_.quiet) return;
    print_error({fmt::format("{} that hold no row stay as they are, the first is line {}",
                             format_count(rows_->strange_lines(), "line"), rows_->first_strange_line()),
                 options_.output,
                 {},
                 {}});
  }

  /// Looks at no trace. Not possible where their names come from a pipe.
  std::optional<std::uint64_t> count_traces() const {
    if (options_.batch.files_from == "-") return std::nullopt;
    const Result<std::unique_ptr<TraceList>> list = TraceList::open(source());
    if (!list) return std::nullopt;
    std::uint64_t count = 0;
    while (const std::optional<Result<std::string>> trace = (*list)->next()) count += *trace ? 1U : 0U;
    return count;
  }

  std::size_t worker_count() const {
    return std::min<std::size_t>(options_.batch.jobs, std::max<std::uint64_t>(1, memory_.bytes / kLeastMemory));
  }

  WorkerPool make_pool(std::size_t workers) const {
    const std::uint64_t share = memory_.bytes / workers;
    return {[this](const std::string& path, const WorkerPool::Say& say) {
              return encode(diagnose_trace(options_, input_of(path), name_of(path), say));
            },
            {workers, options_.batch.time_limit, [this, share] { return prepare_worker(share); }}};
  }

  /// A limit that nobody asked for must not keep a program from starting that is large by itself, as one built with a
  /// sanitizer is.
  Result<void> prepare_worker(std::uint64_t share) const {
    if (!options_.max_memory && memory_in_use() >= share) return {};
    return limit_memory(share, fmt::format("{}M", share >> 20));
  }

  Result<void> run_all() {
    Result<std::unique_ptr<TraceList>> list = TraceList::open(source());
    if (!list) return Unexpected(std::move(list.error()));
    WorkerPool pool = make_pool(worker_count());
    keeps_large_ones_ = worker_count() > 1;
    return work_off(pool, [&] { return next_trace(**list); });
  }

  /// What did not fit into a worker's share gets all of the memory, alone: how many workers there are changes no row.
  Result<void> run_large_ones() {
    if (large_ones_.empty()) return {};
    WorkerPool pool = make_pool(1);
    keeps_large_ones_ = false;
    std::vector<std::string> traces = std::exchange(large_ones_, {});
    std::size_t index = 0;
    return work_off(pool, [&] { return index < traces.size() ? std::optional(traces[index++]) : std::nullopt; });
  }

  std::optional<std::string> next_trace(TraceList& list) {
    while (std::optional<Result<std::string>> trace = list.next()) {
      if (!*trace) {
        ++tally_.unreadable_folders;
        print_error(trace->error());
      } else if (done_.contains(name_of(**trace))) {
        ++tally_.skipped;
      } else {
        return **trace;
      }
    }
    return std::nullopt;
  }

  Result<void> work_off(WorkerPool& pool, const std::function<std::optional<std::string>()>& next) {
    bool is_at_end = false;
    while (true) {
      while (!is_at_end && pool.has_free_worker()) {
        std::optional<std::string> trace = next();
        is_at_end = !trace;
        if (is_at_end) break;
        if (Result<void> started = pool.start(std::move(*trace)); !started) return started;
      }
      if (!pool.has_tasks()) return {};
      for (FinishedTask& task : pool.wait(kDrawInterval)) {
        if (Result<void> taken = take(std::move(task)); !taken) return taken;
      }
      draw();
    }
  }

  Result<void> take(FinishedTask task) {
    if (!task.result && task.failure == TaskFailure::out_of_memory && keeps_large_ones_) {
      large_ones_.push_back(std::move(task.task));
      return {};
    }
    if (!task.result) return rows_->append(failed(task));
    const DiagnosedTrace diagnosed = decode_diagnosed_trace(*task.result);
    tally_.add(diagnosed);
    return rows_->append(diagnosed.row);
  }

  /// The row of a trace whose worker came to grief, which is counted.
  std::string failed(const FinishedTask& task) {
    ++tally_.traces;
    std::string error;
    switch (task.failure) {
      case TaskFailure::timed_out:
        ++tally_.timed_out;
        error = fmt::format("takes longer than --timeout {} allows", options_.batch.time_limit->count());
        break;
      case TaskFailure::out_of_memory:
        ++tally_.out_of_memory;
        error = "needs more memory than " + memory_.words;
        break;
      case TaskFailure::crashed:
        ++tally_.crashed;
        error = "the diagnosis " + task.last_words + "; please report it";
        break;
    }
    return render_row(failed_row({name_of(task.task), stored_bytes(input_of(task.task)), task.note}, error));
  }

  std::string input_of(const std::string& path) const { return path == "-" ? path_of(standard_input_) : path; }
  std::string name_of(const std::string& path) const {
    return path == "-" && options_.batch.name ? *options_.batch.name : path;
  }

  void draw() {
    const auto now = std::chrono::steady_clock::now();
    if (!shows_progress_ || now - begin_ < kDrawDelay || now - drawn_ < kDrawInterval) {
      return;
    }
    drawn_ = now;
    status_line().show(batch_progress_line(tally_, total_, now - begin_, status_line().width()));
  }

  const Options& options_;
  const BatchMemory memory_;
  const bool shows_progress_ = wants_progress_bar(options_, STDERR_FILENO);
  FileDescriptor standard_input_;
  PathSet done_;
  std::unique_ptr<RowOutput> rows_;
  std::optional<std::uint64_t> total_;
  BatchTally tally_;
  bool keeps_large_ones_ = false;
  std::vector<std::string> large_ones_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = begin_;
};

}  // namespace

int run_batch(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<BatchTally> tally = Batch(options, memory_of(options)).run();
  if (!tally) {
    print_error(tally.error());
    return kExitFailure;
  }
  if (!options.quiet) print_note(render_summary(*tally, std::chrono::steady_clock::now() - begin));
  return options.batch.exits_zero ? kExitClean : exit_code_of(*tally);
}

}  // namespace doctor
