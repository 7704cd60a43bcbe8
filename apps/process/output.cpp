#include "process/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "io/file_io.h"
#include "process/output_broker.h"
#include "text/escape.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "standard output";
constexpr std::string_view kReaderGone = "nobody reads it any more";

Unexpected write_error(std::string_view where, int error) {
  if (error == EPIPE) return fail(std::string(kReaderGone), std::string(where));
  if (error == kNoBrokerAnswer) return Unexpected(broker_error(std::string(where), error));
  return fail(std::string("cannot be written: ") + std::strerror(error), std::string(where));
}

/// What has no name to be replaced and may be written to all the same: what the shell or the caller has open, and the
/// devices that take anything.
bool may_be_written(const std::string& path, const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1;
  constexpr unsigned kNull = 3;
  constexpr unsigned kFull = 7;
  const bool is_open_already = path == "/dev/stdout" || path == "/dev/stderr" || path == "/dev/tty" ||
                               path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
  if (is_open_already) return true;
  if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != kMemoryDevices) return false;
  return minor(status.st_rdev) == kNull || minor(status.st_rdev) == kFull;
}

constexpr std::string_view kLineStart = "\r";
constexpr std::string_view kEraseToEnd = "\x1b[K";
constexpr std::size_t kUsualColumns = 80;

iovec part(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};  // writev() does not write to it
}

/// In one call, so that the line does not flicker. The work goes on where the terminal is gone.
void write_parts(int descriptor, std::span<const iovec> parts) {
  if (::writev(descriptor, parts.data(), static_cast<int>(parts.size())) < 0) return;
}

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path, LogEscape escape) {
  std::unique_ptr<OutputFile> output(new OutputFile());
  struct stat status {};
  if (is_standard_output(path)) {
    output->where_ = kStandardOutput;
    // A copy is closed at the end: some file systems report only then that the bytes were lost.
    output->file_ = FileDescriptor(::dup(STDOUT_FILENO));
    if (!output->file_.is_open()) return write_error(kStandardOutput, errno);
    if (escape != LogEscape::none && standard_output_is_log()) output->escape_.emplace(escape == LogEscape::json);
    return output;
  }
  output->where_ = path;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno == ELOOP) return write_error(path, ELOOP);
  if (exists && S_ISDIR(status.st_mode)) return write_error(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode) && !may_be_written(path, status)) {
    return fail("is a named pipe or a device, which may never take it", path,
                "write to standard output: -o - > " + path);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    output->file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!output->file_.is_open()) return write_error(path, errno);
    return output;
  }
  output->target_ = path;
  output->broker_ = broker_of(path);
  const int error = output->broker_ != nullptr ? output->broker_->ask(BrokerAction::begin, path, &output->file_)
                                               : output->replaced_.begin(path);
  if (error != 0) return write_error(path, error);
  return output;
}

Result<void> OutputFile::write_escaped(std::string_view bytes) {
  const FileDescriptor& file = file_.is_open() ? file_ : replaced_.file();
  return write_all(file.number(), bytes) ? Result<void>() : write_error(where_, errno);
}

Result<void> OutputFile::write(std::string_view bytes) {
  return write_escaped(escape_ ? escape_->take(bytes) : bytes);
}

Result<void> OutputFile::finish() {
  if (escape_) RETURN_IF_ERROR(write_escaped(escape_->finish()));
  int error = 0;
  if (broker_ != nullptr) {
    error = broker_->ask(BrokerAction::finish, target_);
  } else if (!target_.empty()) {
    error = replaced_.finish();
  }
  if (error != 0) return write_error(where_, error);
  replaced_ = ReplacedFile();
  if (file_.is_open() && ::close(file_.release()) != 0) return write_error(where_, errno);
  return {};
}

Result<void> write_output(std::string_view page, const std::string& path, LogEscape escape) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output, OutputFile::open(path, escape));
  RETURN_IF_ERROR(output->write(page));
  return output->finish();
}

Result<void> append_output(std::string_view page, const std::string& path) {
  FileDescriptor file;
  if (const OutputBroker* const broker = broker_of(path)) {
    if (const int error = broker->ask(BrokerAction::append, path, &file); error != 0) return write_error(path, error);
  } else {
    file = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    if (!file.is_open()) return write_error(path, errno);
  }
  if (!write_all(file.number(), page)) return write_error(path, errno);
  if (::close(file.release()) != 0) return write_error(path, errno);
  return {};
}

Result<void> check_output(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (is_standard_output(path) || input == "-" || !fs::equivalent(path, input, error) || error) continue;
    return fail("is a trace that is read; the report would replace it", path, "choose another name after -o");
  }
  return {};
}

void print_error(const Error& error) {
  if (error.what == kReaderGone) return;
  print_note("tfdata-doctor: " + escape_for_terminal(to_string(error)) + "\n");
}

Result<bool> print_unreadable(std::span<const Error> errors, bool has_readable, bool is_wanted) {
  for (const Error& error : errors) {
    if (!has_readable && &error == &errors.back()) return Unexpected(error);
    if (is_wanted || !has_readable) print_error(error);
  }
  return errors.empty();
}

int fail_with(const Error& error) {
  print_error(error);
  return kExitFailure;
}

Result<int> print_page(const Result<std::string>& page, const std::string& path, bool is_json) {
  if (!page) return Unexpected(page.error());
  RETURN_IF_ERROR(write_output(*page, path, is_json ? LogEscape::json : LogEscape::text));
  return kExitClean;
}

void print_note(std::string_view text) {
  status_line().erase();
  // Where standard error cannot be written, there is nowhere else to report it.
  static_cast<void>(write_all(STDERR_FILENO, for_log(text)));
}

void print_last_note(std::string_view text) {
  status_line().close();
  static_cast<void>(write_all(STDERR_FILENO, text));
}

StatusLine& status_line() {
  static StatusLine line(STDERR_FILENO);
  return line;
}

std::optional<std::size_t> columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  const std::string_view columns = text == nullptr ? "" : text;
  std::size_t count = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), count);
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::size_t columns_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return columns_of_environment().value_or(kUsualColumns);
}

void StatusLine::show(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  const iovec parts[] = {part(kLineStart), part(text), part(kEraseToEnd)};
  write_parts(descriptor_, parts);
  is_shown_ = true;
}

void StatusLine::erase() {
  const std::lock_guard lock(mutex_);
  erase_shown();
}

void StatusLine::close() {
  const std::lock_guard lock(mutex_);
  erase_shown();
  is_closed_ = true;
}

void StatusLine::erase_shown() {
  if (!is_shown_) return;
  const iovec parts[] = {part(kLineStart), part(kEraseToEnd)};
  write_parts(descriptor_, parts);
  is_shown_ = false;
}

std::size_t StatusLine::width() const {
  return columns_of(descriptor_) - 1;
}

}  // namespace doctor
