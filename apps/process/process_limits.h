#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// The largest amount of memory that may be used.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string words;      ///< "--max-memory 2G allows", after "more memory is needed than"
  bool is_given = false;  ///< given by the user; else it is the default
};

/// The limit that the user gives; `text` as it was written.
MemoryLimit memory_limit(std::uint64_t bytes, std::string_view text);

/// The default limit: three quarters of the memory of the machine, or of the control group.
MemoryLimit usual_memory_limit();

/// Makes the program end when it gets no memory, in whatever thread: one line on standard error, exit status
/// kExitFailure. It throws nothing: an exception could be swallowed on its way (simdjson turns it into a parse error,
/// and a part of the trace would be missing), or meet a function that must not throw.
void end_when_memory_runs_out();

/// The same for a failure that arrived as an exception, e.g. from zlib.
[[noreturn]] void end_without_memory();

/// Makes the kernel refuse memory beyond the limit. It counts what the program can write to: heap, variables, stacks of
/// threads; not the trace files in the page cache. Errors, for a given limit: the program already exceeds it, or this
/// kernel does not count.
Result<void> limit_memory(const MemoryLimit& most);

/// Gives threads that are started later a stack of 1 MiB in place of 8, because a stack counts as a whole. It does so
/// even without a limit, so that a limit does not change what the program can do.
void use_small_thread_stacks();

/// From this call on a block of 1 MiB or more goes back to the kernel when it is freed. By default glibc keeps blocks
/// of up to 32 MiB once one was freed, between others that still live: 12 % of the memory of a trace with 500,000
/// iterators.
void return_large_blocks();

/// From this call on smaller blocks stay with the process when they are freed, up to 32 MiB of them. Work on one small
/// trace after another would otherwise return pages and have them cleared again, some seventy for each trace.
void keep_small_blocks();

/// Limits the time of the program from this call on. At the end a line on standard error says how far it came, and it
/// ends with kExitFailure. Starts a thread that sleeps until then.
void limit_time(std::chrono::seconds most);

/// Does something short while no thread watches the time. Rights that it gives up in this thread are then missing in
/// threads that start later, too.
void do_unwatched(const std::function<void()>& work);

/// The seconds that limit_time() allows; nullopt without a limit.
std::optional<std::chrono::seconds> time_limit();

/// Tests whether that time is over. Work that can end by itself asks, and has a moment (kGrace) for it.
bool is_time_over();

}  // namespace doctor
