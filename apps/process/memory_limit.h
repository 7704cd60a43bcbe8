#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// The most memory that may be used.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string words;      ///< "--max-memory 2G allows", after "more memory is needed than"
  bool is_given = false;  ///< by the user; else the usual one
};

/// What the user allows; `text` as it was written.
MemoryLimit memory_limit(std::uint64_t bytes, std::string_view text);

/// Three quarters of machine_memory().
MemoryLimit usual_memory_limit();

/// From here on memory that cannot be had ends the program, in whatever thread: one line on standard error, exit
/// status kExitFailure. No exception: one could be swallowed on its way (simdjson turns it into a parse error, and a
/// part of the trace would be missing), or meet a function that must not throw.
void end_when_memory_runs_out();

/// The same for a failure that arrived as an exception, e.g. from zlib.
[[noreturn]] void end_without_memory();

/// Lets the kernel refuse memory beyond the limit. Counted is what the program can write to: heap, variables, stacks of
/// threads; not the trace files in the page cache. Errors, of a limit that was given: the program does not fit as it
/// is, or this kernel does not count.
Result<void> limit_memory(const MemoryLimit& most);

/// Bytes that this process and its children may fill together: the machine's memory, or less where a control group
/// (version 2 or 1) allows less.
std::uint64_t machine_memory();

/// Bytes that this process can write to already, as a limit on memory counts them.
std::uint64_t memory_in_use();

/// Gives threads that are started later a stack of 1 MiB in place of 8, for a stack counts as a whole. With or without
/// a limit, so that one does not change what the program can do.
void use_small_thread_stacks();

/// From here on a block of 1 MiB or more goes back to the kernel when it is freed. By itself glibc keeps blocks of up
/// to 32 MiB once one was freed, between others that still live: 12 % of the memory of a trace with 500,000 iterators.
void return_large_blocks();

/// From here on smaller blocks stay with the process when they are freed, up to 32 MiB of them: what works on one small
/// trace after another would otherwise give pages back and have them cleared again, some seventy for each.
void keep_small_blocks();

}  // namespace doctor
