#pragma once

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

}  // namespace doctor
