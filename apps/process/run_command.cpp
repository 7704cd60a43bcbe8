#include "process/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/try.h"
#include "io/file_io.h"
#include "process/child_process.h"

namespace doctor {
namespace {

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
