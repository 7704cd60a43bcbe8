#include "reading_sandbox.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/file_io.h"
#include "process/output.h"
#include "process/time_limit.h"
#include "text/escape.h"
#include "trace/source_lines.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

/// The mode of what the path leads to; 0 where nothing is there.
mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

/// Where the file is made or replaced: in the folder of its name and, where that is a link, in that of what it leads
/// to.
void add_folders_of(const fs::path& path, std::vector<std::string>& folders) {
  constexpr int kMostLinks = 40;
  fs::path file = path;
  for (int links = 0; links < kMostLinks; ++links) {
    folders.push_back(file.has_parent_path() ? file.parent_path().string() : ".");
    std::error_code error;
    const fs::path target = fs::read_symlink(file, error);
    if (error) return;
    file = file.parent_path() / target;
  }
}

/// The folder that SQLite takes for what does not fit into memory (unixTempFileDir() in its os_unix.c).
std::string folder_for_sorting() {
  const std::array<const char*, 5> places = {std::getenv("SQLITE_TMPDIR"), std::getenv("TMPDIR"), "/var/tmp",
                                             "/usr/tmp", "/tmp"};
  for (const char* const folder : places) {
    if (folder != nullptr && S_ISDIR(mode_of(folder)) && ::access(folder, W_OK | X_OK) == 0) return folder;
  }
  return ".";
}

/// A database whose last writer was killed is mended when it is read.
bool is_left_half_written(const std::string& path) {
  return mode_of(path + "-journal") != 0 || mode_of(path + "-wal") != 0;
}

void add_input(const std::string& path, SandboxRules& rules) {
  if (path != "-") {
    rules.readable.push_back(path);
    const std::string lines = source_lines_path(path);
    if (mode_of(lines) != 0) rules.readable.push_back(lines);
    if (is_left_half_written(path)) add_folders_of(path, rules.writable_folders);
  }
  // What can be read once only is kept in a temporary file.
  if (!S_ISREG(mode_of(path))) rules.writable_folders.push_back(temporary_directory());
}

void add_output(const std::string& path, SandboxRules& rules) {
  if (is_standard_output(path)) return;
  const mode_t mode = mode_of(path);
  if (mode != 0 && !S_ISREG(mode)) {
    rules.writable.push_back(path);
  } else {
    add_folders_of(path, rules.writable_folders);
  }
}

}  // namespace

SandboxRules rules_for(const SandboxNeeds& needs) {
  SandboxRules rules;
  for (const std::string& path : needs.inputs) add_input(path, rules);
  for (const std::string& path : needs.outputs) add_output(path, rules);
  for (const std::string& path : needs.databases) add_folders_of(path, rules.writable_folders);
  if (needs.sorts_on_disk) rules.writable_folders.push_back(folder_for_sorting());
  if (!needs.log_directory.empty()) {
    // To find another machine, the C library reads and loads what the machine's configuration says.
    rules.reads_everything = true;
    rules.may_connect = true;
    rules.growing_folders.push_back(needs.log_directory);
  }
  return rules;
}

SandboxChoice sandbox_choice(const Request& request) {
  return {.is_wanted = !request.is_set("no-sandbox"), .is_told = request.is_set("verbose") && !request.is_set("quiet")};
}

void enter_sandbox(const SandboxChoice& choice, const SandboxNeeds& needs) {
  static bool is_entered = false;
  if (is_entered) return;
  is_entered = true;
  if (!choice.is_wanted) return tell_of_sandbox(choice, "left out by --no-sandbox");
  const SandboxRules rules = rules_for(needs);
  Sandbox sandbox;
  do_unwatched([&] { sandbox = enter_sandbox(rules); });
  tell_of_sandbox(choice, describe(sandbox, rules));
}

void tell_of_sandbox(const SandboxChoice& choice, const std::string& text) {
  if (choice.is_told) print_note("tfdata-doctor: sandbox: " + escape_for_terminal(text) + "\n");
}

}  // namespace doctor
