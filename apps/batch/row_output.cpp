#include "batch/row_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fleet/trace_row.h"
#include "io/file_io.h"
#include "io/path_error.h"
#include "process/output.h"

namespace doctor {
namespace {

constexpr mode_t kUsualMode = 0666;  // less the user's mask

/// Held by this process alone, not by the workers that it forks: when it is killed, the next batch need not wait for
/// them to end. A file system without locks locks nothing.
bool lock(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN);
}

}  // namespace

Result<std::unique_ptr<RowOutput>> RowOutput::open(const std::string& path, bool resumes, PathSet& done) {
  std::unique_ptr<RowOutput> rows(new RowOutput());
  if (is_standard_output(path)) {
    rows->where_ = "standard output";
    rows->file_ = FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    return rows;
  }
  rows->where_ = path;
  const int exclusive = resumes ? 0 : O_EXCL;
  rows->file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | exclusive, kUsualMode));
  if (!rows->file_.is_open() && errno == EEXIST) {
    return fail("is there already", path, "--resume goes on with it; else remove it or name another file");
  }
  if (!rows->file_.is_open()) return Unexpected(path_error(path, errno));
  if (!lock(rows->file_.number())) {
    return fail("another process writes rows to it", path, "wait for it, or name another file");
  }
  if (!resumes) return rows;
  if (const Result<void> resumed = rows->resume(done); !resumed) return Unexpected(resumed.error());
  return rows;
}

// Reads through its own descriptor: to close another one of the file, as a ByteSource does, would end the lock.
Result<void> RowOutput::resume(PathSet& done) {
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
  if (unread.empty()) return {};
  if (::ftruncate(file_.number(), whole) != 0) return Unexpected(path_error(where_, errno));
  return {};
}

void RowOutput::take_line(std::string_view line, std::size_t number, PathSet& done) {
  const Result<TraceRow> row = parse_row(line);
  if (row) {
    done.add(row->file.path);
    return;
  }
  if (strange_lines_++ == 0) first_strange_line_ = number;
}

Result<void> RowOutput::append(std::string_view row) {
  if (write_all(file_.number(), row)) return {};
  return fail(std::string("cannot be written: ") + std::strerror(errno), where_);
}

}  // namespace doctor
