#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// The system calls that a process needs beside those of every command, which compute, read what is open or may be
/// opened, and write to what is open.
struct CallRules {
  bool opens_for_writing = false;  ///< opens files for writing by their names
  bool changes_folders = false;    ///< makes, renames and removes files
  bool connects = false;           ///< opens sockets
};

/// Tests whether this machine can filter calls: seccomp is there, and the numbers of its calls are known here.
bool can_filter_calls();

/// Makes the kernel refuse all system calls of this process except those of an allow-list, for all threads and
/// permanently. Other calls fail with EPERM and do not end the process: a library that only probes, or one that a user
/// loads into the program, does no harm. Signals and limits reach only the process itself, and only threads can be
/// made, not processes. no_new_privs must be set. Returns false, with errno set, on failure.
bool filter_calls(const CallRules& rules);

/// The rights that a process keeps in the sandbox, beside what it has open already.
struct SandboxRules {
  std::vector<std::string> readable;          ///< files, and folders with everything below
  std::vector<std::string> writable;          ///< existing files: devices, pipes, files that are appended to
  std::vector<std::string> changeable;        ///< existing files, to be read and written in place
  std::vector<std::string> writable_folders;  ///< folders below which files are made, read, replaced and removed
  std::vector<std::string> growing_folders;   ///< the same, and folders, too
  bool reads_everything = false;
  bool may_connect = false;  ///< to other machines
};

/// The parts of the sandbox that are in force.
struct Sandbox {
  int landlock = 0;         ///< version of the kernel's Landlock that guards the files; 0: they are not guarded
  bool has_filter = false;  ///< seccomp refuses system calls
  std::string why_not;      ///< the reason why a part is missing; empty if none is
};

/// Takes from this process and its children, permanently, every right that reading a trace does not need, so that a
/// trace that takes it over gains little.
///
/// Landlock guards the contents of files: what the rules do not name can be neither opened, made, changed nor removed
/// (folders can be listed). Seccomp refuses, with EPERM, all system calls except those of a list (call_filter.h): no
/// program is executed, no socket opened, no process made, inspected or signalled, and if nothing is written by its
/// name, no file is opened for writing.
///
/// Call it before threads are started. If the kernel has only one part, that one is in force; a path that cannot be
/// opened gets no rule.
Sandbox enter_sandbox(const SandboxRules& rules);

/// The parts that this machine has, as enter_sandbox() would use them.
Sandbox available_sandbox();

/// "full" if both parts are in force for the whole process, "partial" or "none".
std::string_view force_of(const Sandbox& sandbox);

/// "Landlock 7: 2 named paths can be read, none written; seccomp: no programs, no sockets".
std::string describe(const Sandbox& sandbox, const SandboxRules& rules);

}  // namespace doctor
