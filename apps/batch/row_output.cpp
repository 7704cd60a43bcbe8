#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>

#include "base/try.h"
#include "batch/batch.h"
#include "fleet/row_columns.h"
#include "io/file_io.h"
#include "process/log_sink.h"
#include "process/output.h"
#include "process/progress.h"
#include "process/worker_pool.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// How every row begins.
const std::string kRowStart = "{\"schema\":\"" + std::string(kRowSchema);

constexpr mode_t kUsualMode = 0666;  // less the user's mask

/// Held by this process alone, not by the workers that it forks: when it is killed, the next batch need not wait for
/// them to end. A file system without locks locks nothing.
bool lock(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN);
}

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::uint64_t per_second(const BatchTally& tally, std::chrono::nanoseconds duration) {
  return static_cast<std::uint64_t>(static_cast<double>(tally.traces) / std::max(seconds_of(duration), 1e-3));
}

std::uint64_t of(const BatchTally& tally, VerdictStatus status) {
  return tally.verdicts[static_cast<std::size_t>(status)];
}

/// "412 input-bound, 3 out of memory": only what there is.
std::string list(const std::vector<std::pair<std::uint64_t, std::string_view>>& counts) {
  std::string text;
  for (const auto& [count, words] : counts) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_count(count), words);
  }
  return text;
}

}  // namespace

void DoneTraces::add(const std::string& path_in_row) {
  paths_.add(path_in_row);
  if (path_in_row.find(kReplacementCharacter) != std::string::npos) ++inexact_[path_in_row];
}

bool DoneTraces::take(const std::string& path) {
  if (paths_.contains(path)) return true;
  const auto rows =
      inexact_.empty() ? inexact_.end() : inexact_.find(OrderedJson::parse(to_line(path)).get<std::string>());
  if (rows == inexact_.end() || rows->second == 0) return false;
  --rows->second;
  return true;
}

Result<std::unique_ptr<RowOutput>> RowOutput::open(const std::string& path, bool resumes, DoneTraces& done) {
  std::unique_ptr<RowOutput> rows(new RowOutput());
  if (is_standard_output(path)) {
    rows->where_ = "standard output";
    rows->file_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    rows->is_log_ = standard_output_is_log();
    return rows;
  }
  rows->where_ = path;
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) return fail("is a directory", path, "name a file in it");
  if (is_there && !S_ISREG(status.st_mode)) {
    return fail("is not a file that rows can be appended to", path, "without -o they go to standard output");
  }
  rows->is_new_ = !is_there;
  const int exclusive = resumes ? 0 : O_EXCL;
  rows->file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | exclusive, kUsualMode));
  if (!rows->file_.is_open() && errno == EEXIST) {
    return fail("is there already", path, "--resume goes on with it; else remove it or name another file");
  }
  if (!rows->file_.is_open()) return Unexpected(path_error(path, errno));
  if (!lock(rows->file_.number())) {
    return fail("another process writes rows to it", path, "wait for it, or name another file");
  }
  rows->is_locked_ = true;
  if (!resumes) return rows;
  RETURN_IF_ERROR(rows->resume(done));
  return rows;
}

// Reads through its own descriptor: to close another one of the file, as a ByteSource does, would end the lock.
Result<void> RowOutput::resume(DoneTraces& done) {
  std::string unread;
  std::size_t number = 0;
  off_t whole = 0;  // bytes up to the end of the last whole line
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read_some(file_.number(), buffer, sizeof(buffer));
    if (count < 0) return Unexpected(path_error(where_, errno));
    if (count == 0) break;
    unread.append(buffer, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = unread.find('\n'); end != std::string::npos; end = unread.find('\n', begin)) {
      take_line(std::string_view(unread).substr(begin, end - begin), ++number, done);
      begin = end + 1;
    }
    whole += static_cast<off_t>(begin);
    unread.erase(0, begin);
  }
  // What is cut off may be the first row.
  const bool begins_row = unread.starts_with(std::string_view(kRowStart).substr(0, unread.size()));
  const bool is_empty = number == 0 && unread.empty();
  if (row_count_ == 0 && !is_empty && !(number == 0 && begins_row)) {
    return fail("holds no row of batch", where_, "name the file that a batch has begun, or a new one");
  }
  if (unread.empty()) return {};
  if (::ftruncate(file_.number(), whole) != 0) return Unexpected(path_error(where_, errno));
  return {};
}

void RowOutput::take_line(std::string_view line, std::size_t number, DoneTraces& done) {
  const Result<TraceRow> row = parse_row(line);
  if (row) {
    ++row_count_;
    done.add(row->file.path);
    return;
  }
  if (strange_lines_++ == 0) first_strange_line_ = number;
}

Result<void> RowOutput::append(std::string_view row) {
  struct stat before {};
  const bool may_be_taken_back = is_locked_ && ::fstat(file_.number(), &before) == 0;
  const bool is_written = write_all(file_.number(), is_log_ ? without_commands(row, /*is_json=*/true) : row);
  if (is_written) return {};
  const int error = errno;
  // Half a row is taken back; where that fails, --resume does it. Nothing is left of a file that was made for rows and
  // got none.
  const bool is_taken_back = may_be_taken_back && ::ftruncate(file_.number(), before.st_size) == 0;
  if (is_taken_back && is_new_ && before.st_size == 0) ::unlink(where_.c_str());
  return fail(std::string("cannot be written: ") + std::strerror(error), where_);
}

void BatchTally::add(const DiagnosedTrace& trace) {
  ++traces;
  if (trace.exit_code == kExitFailure) {
    ++unreadable;
    return;
  }
  ++verdicts[static_cast<std::size_t>(trace.status)];
  with_findings += trace.exit_code == kExitFinding ? 1U : 0U;
  const bool has_verdict = trace.status == VerdictStatus::input_bound || trace.status == VerdictStatus::healthy;
  with_open_budgets += has_verdict && trace.has_open_budget ? 1U : 0U;
}

std::string BatchTally::add_failed(const FinishedTask& task, std::optional<std::chrono::seconds> time_limit,
                                   const std::string& memory) {
  ++traces;
  switch (task.failure) {
    case TaskFailure::timed_out:
      ++timed_out;
      return fmt::format("takes longer than --timeout {} allows", time_limit.value_or(std::chrono::seconds(0)).count());
    case TaskFailure::out_of_memory:
      ++out_of_memory;
      return "needs more memory than " + memory;
    case TaskFailure::killed:
      ++crashed;
      return "the diagnosis was killed twice, as a machine that is out of memory does it; run it again";
    case TaskFailure::crashed:
      break;
  }
  ++crashed;
  return "the diagnosis " + task.last_words + "; please report it";
}

int exit_code_of(const BatchTally& tally) {
  if (tally.errors() + tally.unreadable_folders > 0 || tally.is_archive_broken) return kExitFailure;
  if (tally.with_findings > 0) return kExitFinding;
  if (tally.with_open_budgets > 0) return kExitNothing;
  const bool has_verdict = of(tally, VerdictStatus::input_bound) + of(tally, VerdictStatus::healthy) > 0;
  return has_verdict || tally.skipped > 0 ? kExitClean : kExitNothing;
}

std::string render_summary(const BatchTally& tally, std::optional<std::chrono::nanoseconds> duration) {
  std::string text = format_count(tally.traces, "trace");
  if (duration) {
    text +=
        fmt::format(" in {:.1f} s ({} a second)", seconds_of(*duration), format_count(per_second(tally, *duration)));
  }
  const std::string verdicts = list({{of(tally, VerdictStatus::input_bound), "input-bound"},
                                     {of(tally, VerdictStatus::healthy), "healthy"},
                                     {of(tally, VerdictStatus::no_input_pipeline), "without an input pipeline"},
                                     {of(tally, VerdictStatus::inconclusive), "inconclusive"}});
  if (!verdicts.empty()) text += ": " + verdicts;
  const std::string errors = list({{tally.unreadable, "could not be read"},
                                   {tally.timed_out, "took too long"},
                                   {tally.out_of_memory, "needed too much memory"},
                                   {tally.crashed, "crashed"},
                                   {tally.unreadable_folders, "folders could not be read"}});
  if (!errors.empty()) text += "; " + errors;
  if (tally.is_archive_broken) text += "; the archive could not be read to its end";
  if (tally.beside_another > 0) {
    text += fmt::format("; {} read with another one of the same process", format_count(tally.beside_another, "file"));
  }
  if (tally.unfinished > 0) text += fmt::format("; {} still being written", format_count(tally.unfinished));
  if (const PassedOver& other = tally.passed_over; other.count > 0) {
    text += fmt::format("; passed over {} that are not traces: {}", format_count(other.count, "file"),
                        fmt::join(other.first, ", "));
    if (other.count > other.first.size())
      text += fmt::format(" and {} more", format_count(other.count - other.first.size()));
  }
  if (tally.skipped > 0) text += fmt::format("; {} were there already", format_count(tally.skipped));
  return text + "\n";
}

std::string batch_progress_line(const BatchTally& tally, std::optional<std::uint64_t> total,
                                std::chrono::nanoseconds duration, std::size_t width) {
  const std::uint64_t done = tally.traces + tally.skipped + tally.beside_another;
  const std::uint64_t rate = per_second(tally, duration);
  std::vector<std::string> parts;
  if (total && *total >= done) {
    const double share = *total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(*total);
    parts = {fmt::format("{} of {} traces", format_count(done), format_count(*total)),
             fmt::format("{:2.0f}%", share * 100)};
  } else {
    parts = {format_count(done, "trace")};
  }
  parts.push_back(fmt::format("{} a second", format_count(rate)));
  if (total && *total >= done && tally.traces > 0) {
    const double left = seconds_of(duration) / static_cast<double>(tally.traces) * static_cast<double>(*total - done);
    parts.push_back(time_text(std::chrono::seconds(static_cast<std::int64_t>(left))) + " left");
  }
  if (tally.errors() > 0) parts.push_back(format_count(tally.errors(), "error"));
  std::string line = parts.front();
  for (std::size_t index = 1; index < parts.size(); ++index) {
    if (line.size() + 2 + parts[index].size() > width) break;
    line += "  " + parts[index];
  }
  return line.substr(0, width);
}

}  // namespace doctor
