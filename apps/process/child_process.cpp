#include "process/child_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "io/file_io.h"

namespace doctor {
namespace {

// A worker that was not taken over needs a moment for it.
constexpr std::chrono::seconds kTimeToTakeTask{10};

struct MessageHead {
  MessageKind kind = MessageKind::task;
  std::uint32_t length = 0;
};

std::string message_of(MessageKind kind, std::string_view text) {
  const MessageHead head = {kind, static_cast<std::uint32_t>(text.size())};
  std::string message(sizeof(head), '\0');
  std::memcpy(message.data(), &head, sizeof(head));
  return message.append(text);
}

/// Whether whoever started the program handed the descriptor over, to be read: a trace may be named by it (/dev/fd/3,
/// standard input). What the program opens itself is closed by exec.
bool is_handed_over(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  const int mode = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && mode >= 0 && (flags & FD_CLOEXEC) == 0 && (mode & O_ACCMODE) == O_RDONLY;
}

/// What stood on standard input can be read from where it was, and no longer be written.
void keep_standard_input_for_reading() {
  const off_t place = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  const int again = place < 0 ? -1 : ::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
  if (again < 0) return;
  ::lseek(again, place, SEEK_SET);
  ::dup2(again, STDIN_FILENO);
  ::close(again);
}

}  // namespace

struct SharedNote::Memory {
  std::atomic<std::uint64_t> length;  ///< set when the text is whole
  char text[kMostBytes];
};

SharedNote::SharedNote(SharedNote&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}

SharedNote& SharedNote::operator=(SharedNote&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

SharedNote::~SharedNote() {
  if (memory_ != nullptr) ::munmap(memory_, sizeof(Memory));
}

Result<SharedNote> SharedNote::make() {
  void* const memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail(std::string("no shared memory can be had: ") + std::strerror(errno), {});
  return SharedNote(static_cast<Memory*>(memory));  // zeros: an empty note
}

void SharedNote::write(std::string_view text) {
  memory_->length.store(text.copy(memory_->text, kMostBytes), std::memory_order_release);
}

std::string SharedNote::read() const {
  return {memory_->text, std::min<std::size_t>(memory_->length.load(std::memory_order_acquire), kMostBytes)};
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(std::string("no pipe can be had: ") + std::strerror(errno), {});
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool send(int descriptor, MessageKind kind, std::string_view text) {
  return write_all(descriptor, message_of(kind, text));
}

bool send_soon(int pipe, MessageKind kind, std::string_view text) {
  const std::string message = message_of(kind, text);
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t count = uninterrupted([&] { return ::write(pipe, rest.data(), rest.size()); });
    if (count < 0 && (errno != EAGAIN || !comes(pipe, POLLOUT, kTimeToTakeTask))) return false;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

bool comes(int descriptor, short events, std::chrono::milliseconds time) {
  pollfd polled = {descriptor, events, 0};
  return uninterrupted([&] { return ::poll(&polled, 1, static_cast<int>(time.count())); }) > 0;
}

bool read_more(int descriptor, std::string& bytes) {
  char buffer[1 << 14];
  const ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  bytes.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<Message> take_message(std::string& bytes) {
  MessageHead head;
  if (bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (bytes.size() - sizeof(head) < head.length) return std::nullopt;
  Message message = {head.kind, bytes.substr(sizeof(head), head.length)};
  bytes.erase(0, sizeof(head) + head.length);
  return message;
}

bool may_be_answer(const std::string& bytes) {
  MessageHead head;
  if (bytes.size() < sizeof(head)) return true;
  std::memcpy(&head, bytes.data(), sizeof(head));
  return head.kind == MessageKind::result && head.length <= kMostWorkerAnswer;
}

std::optional<Message> receive(int descriptor, std::string& unread) {
  while (true) {
    if (std::optional<Message> message = take_message(unread)) return message;
    if (!read_more(descriptor, unread)) return std::nullopt;
  }
}

pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kWorkerNotPrepared);
  return 0;
}

std::vector<int> open_descriptors() {
  std::vector<int> numbers;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    // Nothing is mounted there. More than these nobody opens for a command.
    constexpr int kMost = 4096;
    for (int number = 0; number < kMost; ++number) numbers.push_back(number);
    return numbers;
  }
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
  }
  ::closedir(folder);
  return numbers;
}

void close_descriptors_but(const std::vector<int>& kept) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : open_descriptors()) {
    if (number != nothing && std::ranges::find(kept, number) == kept.end()) ::close(number);
  }
  // Nothing that is opened later may get the number of a standard stream.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::dup2(nothing, stream);
  }
  if (nothing > STDERR_FILENO) ::close(nothing);
}

void close_all_but(int requests, int replies, int kept_file) {
  keep_standard_input_for_reading();
  std::vector<int> kept = {requests, replies, STDERR_FILENO, kept_file};
  for (const int number : open_descriptors()) {
    if (is_handed_over(number)) kept.push_back(number);
  }
  close_descriptors_but(kept);
}

}  // namespace doctor
