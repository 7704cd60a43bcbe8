#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/request.h"
#include "process/output_broker.h"
#include "process/sandbox.h"

namespace doctor {

/// What a command reads and writes, as the user named it.
struct SandboxNeeds {
  std::vector<std::string> inputs = {};     ///< traces and other files that are read; "-" is standard input
  std::vector<std::string> outputs = {};    ///< documents; empty or "-" is standard output
  std::vector<std::string> databases = {};  ///< files that are changed in place, by way of files beside them
  std::string log_directory = {};           ///< where traces are captured to; empty: none are
  bool sorts_on_disk = false;               ///< SQLite may need room
};

/// What such a command may do itself, and what the broker does for it.
struct SandboxPlan {
  SandboxRules rules;
  BrokerTask task;
  bool keeps_what_is_read_once = false;  ///< in a temporary file
  bool sorts_on_disk = false;
};

/// Files are read each by itself, databases changed each by itself, documents written by the broker.
SandboxPlan sandbox_plan(const SandboxNeeds& needs);

/// Makes a folder for temporary files, of this user alone, and names it in the environment variable. Empty where it
/// cannot be made.
std::string make_private_folder(const std::string& parent, const char* variable);

/// Whether the user wants the sandbox, needs all of it, and wants to be told of it: --no-sandbox, --require-sandbox and
/// -v.
struct SandboxChoice {
  bool is_wanted = true;
  bool is_required = false;
  bool is_told = false;
};

SandboxChoice sandbox_choice(const Request& request);

/// Enters the sandbox, before the first byte of a trace is read: threads that run already stay outside. Later calls do
/// nothing: the first one is told all that the command needs. Documents say how much of it is in force (json_page.h).
/// Errors: all of it is required, and is not in force.
Result<void> enter_sandbox(const SandboxChoice& choice, const SandboxNeeds& needs);

/// Has documents say how much of the sandbox is in force. Errors: all of it is required, and is not.
Result<void> judge_sandbox(const SandboxChoice& choice, const Sandbox& sandbox);

/// Says on standard error what the sandbox is, if the user wants to be told.
void tell_of_sandbox(const SandboxChoice& choice, const std::string& text);

}  // namespace doctor
