#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

// What a pool and its workers say to each other through pipes.

/// The longest answer of a worker, in bytes.
inline constexpr std::size_t kMostWorkerAnswer = std::size_t{1} << 20;

/// The exit status of a worker that could not be prepared; no library that it uses ends a process with it.
inline constexpr int kWorkerNotPrepared = 114;

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Result<Pipe> make_pipe();

/// A message is its kind, its length and its text.
enum class MessageKind : std::uint32_t { ready, task, result };

struct Message {
  MessageKind kind = MessageKind::task;
  std::string text;
};

/// False where nobody takes it off, if the pipe is one that takes no more at once than it has room for.
bool send(int pipe, MessageKind kind, std::string_view text);

/// Whether any of these events comes to pass within that time; the end of a pipe always counts.
bool comes(int descriptor, short events, std::chrono::milliseconds time);

/// Appends what can be read at once. False at the end.
bool read_more(int descriptor, std::string& bytes);

/// Takes the first message off `bytes`; nullopt while it is not whole.
std::optional<Message> take_message(std::string& bytes);

/// Whether the first message, as far as it is there, is one that a worker may send.
bool may_be_answer(const std::string& bytes);

/// Waits for the next message; nullopt at the end.
std::optional<Message> receive(int descriptor, std::string& unread);

/// Forks: in the new process 0. A parent that is killed takes it with it.
pid_t fork_child();

/// Closes all other descriptors, so that a forked process has nothing of its parent. The standard streams lead to
/// /dev/null unless they are kept.
void close_descriptors_but(const std::vector<int>& kept);

/// Leaves a worker its two pipes, what it prints, and what it may be asked to read. A trace that takes a worker over
/// must find nothing of its parent: neither the file with the rows of other traces nor standard output, which may be
/// one.
void close_all_but(int requests, int replies, int kept_file);

/// The file that a shell would run for a name; empty if there is none. Relative folders of PATH are left out.
std::string program_on_path(const std::string& name);

/// Runs a program, without a shell, and hands over what it writes to standard output as it comes. It starts in
/// `folder`, has nothing of this process open, and reads nothing. Errors: it cannot be started, is silent for two
/// minutes, takes more than an hour, or ends with a status other than 0 (with the last line that it wrote to standard
/// error); what `take` returns, after which it is ended.
Result<void> run_command(const std::vector<std::string>& words, const std::string& folder,
                         const std::function<Result<void>(std::string_view)>& take);

}  // namespace doctor
