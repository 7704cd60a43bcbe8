#include "output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "report/escape.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "standard output";
constexpr std::string_view kReaderGone = "nobody reads it any more";

Unexpected write_error(std::string_view where, int error) {
  if (error == EPIPE) return fail(std::string(kReaderGone), std::string(where));
  return fail(std::string("cannot be written: ") + std::strerror(error), std::string(where));
}

/// 0 or the error number.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<void> write_standard_output(std::string_view page) {
  if (const int error = write_all(STDOUT_FILENO, page); error != 0) return write_error(kStandardOutput, error);
  // A copy is closed: some file systems tell only then that the bytes were lost.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy < 0 || ::close(copy) != 0) return write_error(kStandardOutput, errno);
  return {};
}

/// Devices and pipes have no name to be replaced.
Result<void> write_in_place(std::string_view page, const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return write_error(path, errno);
  const int error = write_all(descriptor, page);
  const int close_error = ::close(descriptor) == 0 ? 0 : errno;
  if (error != 0 || close_error != 0) return write_error(path, error != 0 ? error : close_error);
  return {};
}

/// Rights that a new file gets, or those of the file that is replaced.
mode_t mode_for(const struct stat* replaced) {
  if (replaced != nullptr) return replaced->st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

int fill_temporary(int descriptor, std::string_view page, mode_t mode) {
  int error = write_all(descriptor, page);
  if (error == 0 && ::fchmod(descriptor, mode) != 0) error = errno;
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

Result<void> write_atomically(std::string_view page, const std::string& path, const struct stat* replaced) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return write_error(path, errno);
  int error = fill_temporary(descriptor, page, mode_for(replaced));
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return write_error(path, error);
}

/// Where a symbolic link leads, so that the link survives.
std::string followed(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // else the link would be replaced
  return error ? path : target.string();
}

}  // namespace

Result<void> write_output(std::string_view page, const std::string& path) {
  if (path.empty() || path == "-") return write_standard_output(page);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return write_atomically(page, path, nullptr);
  if (S_ISDIR(status.st_mode)) return write_error(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return write_in_place(page, path);
  return write_atomically(page, followed(path), &status);
}

Result<void> check_output(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (path.empty() || path == "-" || input == "-" || !fs::equivalent(path, input, error) || error) continue;
    return fail("is a trace that is read; the report would replace it", path, "choose another name after -o");
  }
  return {};
}

void print_error(const Error& error) {
  if (error.what == kReaderGone) return;
  print_note("tfdata-doctor: " + escape_for_terminal(to_string(error)) + "\n");
}

void print_note(std::string_view text) {
  status_line().erase();
  // Nothing is left to tell it to where standard error cannot be written.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void print_last_note(std::string_view text) {
  status_line().close();
  print_note(text);
}

StatusLine& status_line() {
  static StatusLine line(STDERR_FILENO);
  return line;
}

}  // namespace doctor
