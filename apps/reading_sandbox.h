#pragma once

#include "base/result.h"
#include "command_line/request.h"
#include "process/output_broker.h"
#include "process/sandbox.h"

namespace doctor {

/// The files that a command reads and writes, as the user named them.
struct SandboxNeeds {
  std::vector<std::string> inputs = {};     ///< traces and other files that are read; "-" is standard input
  std::vector<std::string> outputs = {};    ///< documents; empty or "-" is standard output
  std::vector<std::string> databases = {};  ///< files that are changed in place, with the help of files beside them
  std::string log_directory = {};           ///< where captured traces are stored; empty: none are
  bool sorts_on_disk = false;               ///< SQLite may need room
};

/// What such a command may do itself, and what the broker does for it.
struct SandboxPlan {
  SandboxRules rules;
  BrokerTask task;
  bool keeps_what_is_read_once = false;  ///< in a temporary file
  bool sorts_on_disk = false;
};

/// Plans the sandbox: files are read each by itself, databases changed each by itself, documents written by the broker.
SandboxPlan sandbox_plan(const SandboxNeeds& needs);

/// The folder that SQLite takes for what does not fit into memory (unixTempFileDir() in its os_unix.c).
std::string folder_for_sorting();

/// Makes a folder for temporary files, which only this user can access, and names it in the environment variable, if
/// one is given. Empty if it cannot be made.
std::string make_private_folder(const std::string& parent, const char* variable = nullptr);

/// The user's choice: whether the sandbox is wanted, whether all of it is required, and whether to describe it:
/// --no-sandbox, --require-sandbox and -v.
struct SandboxChoice {
  bool is_wanted = true;
  bool is_required = false;
  bool is_told = false;
};

SandboxChoice sandbox_choice(const Request& request);

/// Enters the sandbox, before the first byte of a trace is read: threads that run already stay outside. Later calls do
/// nothing, so the first one must name everything that the command needs. Documents then say how much of it is in force
/// (json_page.h). Errors: all of it is required, and is not in force.
Result<void> enter_sandbox(const SandboxChoice& choice, const SandboxNeeds& needs);

/// Makes documents say how much of the sandbox is in force. Errors: all of it is required, and is not.
Result<void> judge_sandbox(const SandboxChoice& choice, const Sandbox& sandbox);

/// Describes the sandbox on standard error, if the user wants that.
void tell_of_sandbox(const SandboxChoice& choice, const std::string& text);

}  // namespace doctor
