#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "built_paths.h"
#include "temporary_directory.h"

extern char** environ;

namespace doctor {

inline std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// How a run of the tool ended.
struct Ended {
  int code = -1;  ///< exit code; minus the signal's number if one killed it
  std::string output;
  std::string errors;
};

/// The program as it was built, started without a shell.
class Tool {
 public:
  std::string input;         ///< what it reads on standard input
  int input_from = -1;       ///< a descriptor that is its standard input instead
  std::string output_path;   ///< where standard output goes; empty: caught
  int output_to = -1;        ///< a descriptor that is its standard output; -1: caught
  int errors_to = -1;        ///< a descriptor that is its standard error; -1: caught
  bool pipes_input = false;  ///< a pipe instead of a file, for inputs that fit into its buffer
  bool has_closed_output = false;
  bool has_reader = true;  ///< false: standard output is a pipe that nobody reads

  Ended run(const std::vector<std::string>& arguments) const {
    const TemporaryDirectory folder;
    const std::string caught = folder / "output";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    open_as(actions, 0, folder.write("input", input), O_RDONLY);
    int input_ends[2] = {-1, -1};
    if (pipes_input) {
      REQUIRE(::pipe(input_ends) == 0);
      REQUIRE(::write(input_ends[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
      ::close(input_ends[1]);
      posix_spawn_file_actions_adddup2(&actions, input_ends[0], 0);
      posix_spawn_file_actions_addclose(&actions, input_ends[0]);
    }
    open_as(actions, 1, output_path.empty() ? caught : output_path, O_WRONLY | O_CREAT);
    open_as(actions, 2, folder / "errors", O_WRONLY | O_CREAT);
    int pipe_ends[2] = {-1, -1};
    if (!has_reader) {
      REQUIRE(::pipe(pipe_ends) == 0);
      ::close(pipe_ends[0]);
      posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    }
    if (input_from >= 0) posix_spawn_file_actions_adddup2(&actions, input_from, 0);
    if (output_to >= 0) posix_spawn_file_actions_adddup2(&actions, output_to, 1);
    if (errors_to >= 0) posix_spawn_file_actions_adddup2(&actions, errors_to, 2);
    if (has_closed_output) posix_spawn_file_actions_addclose(&actions, 1);
    Ended ended;
    ended.code = wait_for(start(arguments, actions));
    if (!has_reader) ::close(pipe_ends[1]);
    if (pipes_input) ::close(input_ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    ended.output = read_whole_file(caught);
    ended.errors = read_whole_file(folder / "errors");
    return ended;
  }

 private:
  static void open_as(posix_spawn_file_actions_t& actions, int number, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions, number, path.c_str(), flags, 0600);
  }

  static pid_t start(const std::vector<std::string>& arguments, const posix_spawn_file_actions_t& actions) {
    std::vector<std::string> owned = {tool_path()};
    owned.insert(owned.end(), arguments.begin(), arguments.end());
    std::vector<char*> values;
    values.reserve(owned.size() + 1);
    for (std::string& value : owned) values.push_back(value.data());
    values.push_back(nullptr);
    pid_t process = 0;
    REQUIRE(::posix_spawn(&process, tool_path().c_str(), &actions, nullptr, values.data(), environ) == 0);
    return process;
  }

  static int wait_for(pid_t process) {
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

inline Ended run_tool(const std::vector<std::string>& arguments) {
  return Tool().run(arguments);
}

}  // namespace doctor
