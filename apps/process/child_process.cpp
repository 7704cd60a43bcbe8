#include "process/child_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/try.h"
#include "io/file_io.h"

namespace doctor {
namespace {

// A worker that was not taken over needs a moment for it.
constexpr std::chrono::seconds kTimeToTakeTask{10};

struct MessageHead {
  MessageKind kind = MessageKind::task;
  std::uint32_t length = 0;
};

std::string message_of(MessageKind kind, std::string_view text) {
  const MessageHead head = {kind, static_cast<std::uint32_t>(text.size())};
  std::string message(sizeof(head), '\0');
  std::memcpy(message.data(), &head, sizeof(head));
  return message.append(text);
}

/// Whether whoever started the program handed the descriptor over, to be read: a trace may be named by it (/dev/fd/3,
/// standard input). What the program opens itself is closed by exec.
bool is_handed_over(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  const int mode = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && mode >= 0 && (flags & FD_CLOEXEC) == 0 && (mode & O_ACCMODE) == O_RDONLY;
}

/// What stood on standard input can be read from where it was, and no longer be written.
void keep_standard_input_for_reading() {
  const off_t place = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  const int again = place < 0 ? -1 : ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
  if (again < 0) return;
  ::lseek(again, place, SEEK_SET);
  ::dup2(again, STDIN_FILENO);
  ::close(again);
}

/// The numbers of all descriptors of this process.
std::vector<int> open_descriptors() {
  std::vector<int> numbers;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    // Nothing is mounted there. More than these nobody opens for a command.
    constexpr int kMost = 4096;
    for (int number = 0; number < kMost; ++number) numbers.push_back(number);
    return numbers;
  }
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
  }
  ::closedir(folder);
  return numbers;
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kLongestSilence{2};
constexpr std::chrono::hours kLongestCommand{1};
constexpr std::size_t kMostSaid = std::size_t{1} << 12;
constexpr std::size_t kMostSaidShown = 400;
constexpr int kNotFound = 127;  // as of a shell

[[noreturn]] void become(const std::vector<std::string>& words, const std::string& folder, int output, int errors) {
  // Its own helpers end with it.
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  close_descriptors_but({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  ::setenv("TZ", "UTC0", 1);  // some list times of this machine
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_DFL);
  std::vector<char*> values;
  for (const std::string& word : words) values.push_back(const_cast<char*>(word.c_str()));
  values.push_back(nullptr);
  if (::chdir(folder.c_str()) == 0) ::execv(values[0], values.data());
  ::_exit(kNotFound);
}

/// The end of what was said, in one line.
std::string in_one_line(std::string said) {
  while (!said.empty() && said.back() <= ' ') said.pop_back();
  said.erase(0, said.size() - std::min(said.size(), kMostSaidShown));
  std::ranges::replace(said, '\n', ' ');
  return said;
}

struct Listener {
  FileDescriptor output;
  FileDescriptor errors;
  std::string said;

  /// Until both ends are closed. Errors: as of run_command(), but for the status.
  Result<void> listen(const std::function<Result<void>(std::string_view)>& take) {
    const Clock::time_point end = Clock::now() + kLongestCommand;
    std::string bytes;
    while (output.is_open() || errors.is_open()) {
      std::array<pollfd, 2> ends = {{{output.number(), POLLIN, 0}, {errors.number(), POLLIN, 0}}};
      const auto silence = std::chrono::milliseconds(kLongestSilence);
      if (uninterrupted([&] { return ::poll(ends.data(), ends.size(), static_cast<int>(silence.count())); }) <= 0) {
        return fail("said nothing for two minutes", {});
      }
      if (Clock::now() > end) return fail("did not end within an hour", {});
      if (ends[0].revents != 0) {
        bytes.clear();
        if (!read_more(output.number(), bytes)) output = FileDescriptor();
        if (!bytes.empty()) RETURN_IF_ERROR(take(bytes));
      }
      if (ends[1].revents != 0) {
        if (!read_more(errors.number(), said)) errors = FileDescriptor();
        if (said.size() > kMostSaid) said.erase(0, said.size() - kMostSaid);
      }
    }
    return {};
  }
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(std::string("no pipe can be had: ") + std::strerror(errno), {});
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool send(int pipe, MessageKind kind, std::string_view text) {
  const std::string message = message_of(kind, text);
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t count = uninterrupted([&] { return ::write(pipe, rest.data(), rest.size()); });
    if (count < 0 && (errno != EAGAIN || !comes(pipe, POLLOUT, kTimeToTakeTask))) return false;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

bool comes(int descriptor, short events, std::chrono::milliseconds time) {
  pollfd polled = {descriptor, events, 0};
  return uninterrupted([&] { return ::poll(&polled, 1, static_cast<int>(time.count())); }) > 0;
}

bool read_more(int descriptor, std::string& bytes) {
  char buffer[1 << 14];
  const ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  bytes.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<Message> take_message(std::string& bytes) {
  MessageHead head;
  if (bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (bytes.size() - sizeof(head) < head.length) return std::nullopt;
  Message message = {head.kind, bytes.substr(sizeof(head), head.length)};
  bytes.erase(0, sizeof(head) + head.length);
  return message;
}

bool may_be_answer(const std::string& bytes) {
  MessageHead head;
  if (bytes.size() < sizeof(head)) return true;
  std::memcpy(&head, bytes.data(), sizeof(head));
  return head.kind == MessageKind::result && head.length <= kMostWorkerAnswer;
}

std::optional<Message> receive(int descriptor, std::string& unread) {
  while (true) {
    if (std::optional<Message> message = take_message(unread)) return message;
    if (!read_more(descriptor, unread)) return std::nullopt;
  }
}

pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kWorkerNotPrepared);
  return 0;
}

void close_descriptors_but(const std::vector<int>& kept) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : open_descriptors()) {
    if (number != nothing && std::ranges::find(kept, number) == kept.end()) ::close(number);
  }
  // Nothing that is opened later may get the number of a standard stream.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::dup2(nothing, stream);
  }
  if (nothing > STDERR_FILENO) ::close(nothing);
}

void close_all_but(int requests, int replies, int kept_file) {
  keep_standard_input_for_reading();
  std::vector<int> kept = {requests, replies, STDERR_FILENO, kept_file};
  for (const int number : open_descriptors()) {
    if (is_handed_over(number)) kept.push_back(number);
  }
  close_descriptors_but(kept);
}

std::string program_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::string file = std::string(folder) + "/" + name;
    struct stat status {};
    const bool is_file = ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (folder.starts_with('/') && is_file && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

Result<void> run_command(const std::vector<std::string>& words, const std::string& folder,
                         const std::function<Result<void>(std::string_view)>& take) {
  ASSIGN_OR_RETURN(Pipe output, make_pipe());
  ASSIGN_OR_RETURN(Pipe errors, make_pipe());
  const pid_t process = fork_child();
  if (process < 0) return fail(std::string("cannot be started: ") + std::strerror(errno), words[0]);
  if (process == 0) become(words, folder, output.write_end.number(), errors.write_end.number());
  { const Pipe closed = {{}, std::move(output.write_end)}, closed_too = {{}, std::move(errors.write_end)}; }
  Listener listener = {std::move(output.read_end), std::move(errors.read_end), {}};
  const Result<void> heard = listener.listen(take);
  if (!heard) {
    ::kill(-process, SIGKILL);
    ::kill(process, SIGKILL);
  }
  int status = 0;
  uninterrupted([&] { return ::waitpid(process, &status, 0); });
  const std::string said = in_one_line(listener.said);
  const std::string why = said.empty() ? "" : ": " + said;
  if (!heard) return heard.error().where.empty() ? fail(heard.error().what + why, words[0]) : heard;
  if (status != 0) return fail(how_it_ended(status) + why, words[0]);
  return {};
}

}  // namespace doctor
