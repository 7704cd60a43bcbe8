#pragma once

namespace doctor {

/// What system calls a process needs beside those by which every command computes, reads what it has opened or may
/// open, and writes to what it has open.
struct CallRules {
  bool opens_for_writing = false;  ///< files by their names
  bool changes_folders = false;    ///< makes, renames and removes files
  bool connects = false;           ///< opens sockets
};

/// Whether this machine can filter calls: seccomp is there, and the numbers of its calls are known here.
bool can_filter_calls();

/// Lets the kernel refuse all system calls of this process but those of an allow-list, for all threads and for good. A
/// call that is not on it fails with EPERM and does not end the process: a library that only tries something, or one
/// that a user loads into the program, does no harm. Signals and limits reach the process itself alone, new processes
/// cannot be made, only threads. no_new_privs must be set. False, with errno set, where it cannot be.
bool filter_calls(const CallRules& rules);

}  // namespace doctor
