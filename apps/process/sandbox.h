#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// What a process may still do in the sandbox, beside what it has open already.
struct SandboxRules {
  std::vector<std::string> readable;          ///< files, and folders with all that is below
  std::vector<std::string> writable;          ///< files that are there: devices, pipes, files that are appended to
  std::vector<std::string> changeable;        ///< files that are there, to be read and written in place
  std::vector<std::string> writable_folders;  ///< below which files are made, read, replaced and removed
  std::vector<std::string> growing_folders;   ///< the same, and folders, too
  bool reads_everything = false;
  bool may_connect = false;  ///< to other machines
};

/// Which parts of the sandbox are in force.
struct Sandbox {
  int landlock = 0;         ///< version of the kernel's Landlock that guards the files; 0: they are not guarded
  bool has_filter = false;  ///< whether seccomp refuses system calls
  std::string why_not;      ///< what keeps a part from it; empty if nothing does
};

/// Takes from this process, for good and for those that it forks, what it does not need to read a trace, so that a
/// trace that takes it over has little of it. Landlock guards the contents of files: what is not named in the rules can
/// be neither opened, made, changed nor removed (folders can be listed). Seccomp refuses, with EPERM, all system calls
/// but those of a list (call_filter.h): no program is executed, no socket opened, no process made, looked into or
/// signalled, and where nothing is written by its name no file opened to be written. Call it before threads are
/// started. Where the kernel has one part only, that one is in force; a path that cannot be opened gets no rule.
Sandbox enter_sandbox(const SandboxRules& rules);

/// The parts that this machine has, as enter_sandbox() would use them.
Sandbox available_sandbox();

/// "full" where both parts are in force for all of the process, "partial" or "none".
std::string_view force_of(const Sandbox& sandbox);

/// "Landlock 7: 2 named paths can be read, none written; seccomp: no programs, no sockets".
std::string describe(const Sandbox& sandbox, const SandboxRules& rules);

}  // namespace doctor
