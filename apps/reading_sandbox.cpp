#include "reading_sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <system_error>

#include "base/try.h"
#include "io/file_io.h"
#include "io/trace_folder.h"
#include "process/process_limits.h"
#include "text/escape.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

/// The mode of what the path leads to; 0 where nothing is there.
mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

/// What SQLite has beside a database while it changes it.
constexpr std::array<const char*, 3> kBesideDatabase = {"-journal", "-wal", "-shm"};

/// A database is changed in place. What stands beside it while it is must be there: in the sandbox no file can be made.
void add_database(const std::string& path, SandboxPlan& plan) {
  const std::string file = followed(path);
  std::error_code error;
  if (const std::uintmax_t bytes = fs::file_size(file, error); error || bytes == 0) {
    plan.task.empty_databases.push_back(file);
  }
  plan.rules.changeable.push_back(file);
  for (const char* const end : kBesideDatabase) plan.rules.changeable.push_back(file + end);
}

/// A database whose last writer was killed is mended when it is read.
bool is_left_half_written(const std::string& path) {
  std::error_code error;
  return std::ranges::any_of(kBesideDatabase, [&](const char* const end) {
    return S_ISREG(mode_of(path + end)) && fs::file_size(path + end, error) > 0;
  });
}

void add_input(const std::string& path, SandboxPlan& plan) {
  if (path == "-") return;
  SandboxRules& rules = plan.rules;
  rules.readable.push_back(path);
  if (std::string read = file_to_read(path); read != path) rules.readable.push_back(std::move(read));
  for (const std::string& beside : {source_lines_path(path), recording_facts_path(path), memory_samples_path(path)}) {
    if (mode_of(beside) != 0) rules.readable.push_back(beside);
  }
  const std::optional<XSpaceBeside> xspace = xspace_beside(path);
  if (xspace && !xspace->is_empty) rules.readable.push_back(xspace->path);
  const std::string file = followed(path);
  if (is_left_half_written(file)) add_database(file, plan);
}

void add_output(const std::string& path, SandboxPlan& plan) {
  if (is_standard_output(path)) return;
  const mode_t mode = mode_of(path);
  if (mode != 0 && !S_ISREG(mode)) {
    plan.rules.writable.push_back(path);
  } else {
    plan.task.files.push_back(path);
  }
}

bool is_read_once(const std::string& path) {
  return !S_ISREG(mode_of(path));
}

/// The plan knows them then. Where one cannot be made, nothing can be kept.
void make_temporary_folders(SandboxPlan& plan) {
  const auto add = [&](const std::string& folder) {
    if (folder.empty()) return;
    plan.task.temporary_folders.push_back(folder);
    plan.rules.writable_folders.push_back(folder);
  };
  if (plan.keeps_what_is_read_once) add(make_private_folder(temporary_directory(), "TMPDIR"));
  if (plan.sorts_on_disk) add(make_private_folder(folder_for_sorting(), "SQLITE_TMPDIR"));
}

bool is_empty(const BrokerTask& task) {
  return task.files.empty() && task.temporary_folders.empty() && task.empty_databases.empty();
}

void make_empty_file(const std::string& path) {
  const FileDescriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
}

}  // namespace

std::string folder_for_sorting() {
  const std::array<const char*, 5> places = {std::getenv("SQLITE_TMPDIR"), std::getenv("TMPDIR"), "/var/tmp",
                                             "/usr/tmp", "/tmp"};
  for (const char* const folder : places) {
    if (folder != nullptr && S_ISDIR(mode_of(folder)) && ::access(folder, W_OK | X_OK) == 0) return folder;
  }
  return ".";
}

SandboxPlan sandbox_plan(const SandboxNeeds& needs) {
  SandboxPlan plan;
  for (const std::string& path : needs.inputs) add_input(path, plan);
  for (const std::string& path : needs.outputs) add_output(path, plan);
  for (const std::string& path : needs.databases) add_database(path, plan);
  plan.keeps_what_is_read_once = std::ranges::any_of(needs.inputs, is_read_once);
  plan.sorts_on_disk = needs.sorts_on_disk;
  if (!needs.log_directory.empty()) {
    // To find another machine, the C library reads and loads what the machine's configuration says.
    plan.rules.reads_everything = true;
    plan.rules.may_connect = true;
    plan.rules.growing_folders.push_back(needs.log_directory);
  }
  return plan;
}

std::string make_private_folder(const std::string& parent, const char* variable) {
  std::string folder = parent + "/tfdata-doctor-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  if (variable != nullptr) ::setenv(variable, folder.c_str(), 1);
  return folder;
}

SandboxChoice sandbox_choice(const Request& request) {
  return {.is_wanted = !request.is_set("no-sandbox"),
          .is_required = request.is_set("require-sandbox"),
          .is_told = request.is_set("verbose") && !request.is_set("quiet")};
}

Result<void> enter_sandbox(const SandboxChoice& choice, const SandboxNeeds& needs) {
  static bool is_entered = false;
  if (is_entered) return {};
  is_entered = true;
  if (!choice.is_wanted) {
    tell_of_sandbox(choice, "left out by --no-sandbox");
    return {};
  }
  SandboxPlan plan = sandbox_plan(needs);
  Sandbox sandbox;
  Result<void> started;
  do_unwatched([&] {
    make_temporary_folders(plan);
    if (!is_empty(plan.task)) started = start_output_broker(plan.task);
    if (!started) return;
    for (const std::string& file : needs.databases) make_empty_file(followed(file) + "-journal");
    sandbox = enter_sandbox(plan.rules);
  });
  RETURN_IF_ERROR(started);
  const bool is_brokered = !plan.task.files.empty();
  tell_of_sandbox(choice,
                  describe(sandbox, plan.rules) + (is_brokered ? "; files are written by a process of their own" : ""));
  return judge_sandbox(choice, sandbox);
}

Result<void> judge_sandbox(const SandboxChoice& choice, const Sandbox& sandbox) {
  set_sandbox_word(force_of(sandbox));
  if (!choice.is_required || sandbox.why_not.empty()) return {};
  return fail("'--require-sandbox' is given, and not all of the sandbox is in force: " + sandbox.why_not, {},
              "read traces where the kernel has Landlock and seccomp (SECURITY.md), or leave '--require-sandbox' out");
}

void tell_of_sandbox(const SandboxChoice& choice, const std::string& text) {
  if (choice.is_told) print_note("tfdata-doctor: sandbox: " + escape_for_terminal(text) + "\n");
}

}  // namespace doctor
