#include "process/output_broker.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "io/file_io.h"
#include "io/locked_file.h"
#include "io/replaced_file.h"
#include "process/descriptors.h"
#include "process/sandbox.h"

namespace doctor {
namespace {

enum BrokerAction : std::uint32_t { kBegin, kFinish, kAppend, kLock };

struct BrokerRequest {
  std::uint32_t action = kBegin;
  std::uint32_t file = 0;  ///< index into BrokerTask::files
};

struct BrokerReply {
  std::int32_t error = 0;
};

/// Sends a message of one piece, with a descriptor if there is one.
bool send_message(int socket, const void* bytes, std::size_t size, int descriptor) {
  iovec piece = {const_cast<void*>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  return uninterrupted([&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL); }) == static_cast<ssize_t>(size);
}

/// Receives a message of exactly `size` bytes, and the descriptor that came with it. False at the end.
bool receive_message(int socket, void* bytes, std::size_t size, FileDescriptor* descriptor) {
  iovec piece = {bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor != nullptr) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  const ssize_t count = uninterrupted([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (count != static_cast<ssize_t>(size)) return false;
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (descriptor != nullptr && head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof(int));
    *descriptor = FileDescriptor(number);
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The files in a folder of this program's own, and the folder. There are no folders in it.
void remove_folder(const std::string& path) {
  if (DIR* const folder = ::opendir(path.c_str())) {
    while (const dirent* const entry = ::readdir(folder)) ::unlinkat(::dirfd(folder), entry->d_name, 0);
    ::closedir(folder);
  }
  ::rmdir(path.c_str());
}

/// A database that was made before it was known whether there would be something to store. Other programs that are
/// about to fill it have it locked, as its maker had (OutputBroker::made_).
void remove_if_unused(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return;
  if (::fstat(file.number(), &status) != 0 || status.st_size != 0 || !is_named(path, file.number())) return;
  ::unlink(path.c_str());
  ::unlink((path + "-journal").c_str());
}

/// The work of the process that is the broker.
class Broker {
 public:
  Broker(int socket, const BrokerTask& task, const std::vector<std::string>& targets)
      : socket_(socket), task_(task), targets_(targets) {}

  void serve() {
    BrokerRequest request;
    while (receive_message(socket_, &request, sizeof(request), nullptr)) {
      int descriptor = -1;
      BrokerReply reply = {EINVAL};
      if (request.file < targets_.size()) reply.error = answer(request, descriptor);
      if (!send_message(socket_, &reply, sizeof(reply), reply.error == 0 ? descriptor : -1)) return;
    }
  }

  void tidy_up() {
    begun_.clear();
    for (const std::string& folder : task_.temporary_folders) remove_folder(folder);
    for (const std::string& file : task_.new_databases) remove_if_unused(file);
    remove_what_was_made_to_be_locked();
  }

 private:
  int answer(const BrokerRequest& request, int& descriptor) {
    switch (request.action) {
      case kBegin: {
        ReplacedFile& file = begun_[request.file] = ReplacedFile();
        const int error = file.begin(targets_[request.file]);
        descriptor = file.file().number();
        return error;
      }
      case kFinish: {
        const auto begun = begun_.find(request.file);
        if (begun == begun_.end()) return EINVAL;
        const int error = begun->second.finish();
        begun_.erase(begun);
        return error;
      }
      case kAppend:
        return hand_over(::open(targets_[request.file].c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666),
                         descriptor);
      case kLock:
        return lock(targets_[request.file], descriptor);
      default:
        return EINVAL;
    }
  }

  /// A file that was made to be locked, and in which nothing was stored then, goes again.
  int lock(const std::string& path, int& descriptor) {
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    descriptor = lock_by_name(path);
    const int error = descriptor < 0 ? errno : 0;
    locked_ = FileDescriptor(descriptor);
    if (is_new) made_to_be_locked_ = path;
    return error;
  }

  void remove_what_was_made_to_be_locked() {
    struct stat status {};
    const bool is_empty = locked_.is_open() && ::fstat(locked_.number(), &status) == 0 && status.st_size == 0;
    if (!made_to_be_locked_.empty() && is_empty && is_named(made_to_be_locked_, locked_.number()))
      ::unlink(made_to_be_locked_.c_str());
  }

  /// Kept until the next one, so that it is open while it is sent.
  int hand_over(int opened, int& descriptor) {
    const int error = opened < 0 ? errno : 0;
    sent_ = FileDescriptor(opened);
    descriptor = opened;
    return error;
  }

  int socket_;
  const BrokerTask& task_;
  const std::vector<std::string>& targets_;
  std::map<std::uint32_t, ReplacedFile> begun_;
  FileDescriptor sent_;
  FileDescriptor locked_;
  std::string made_to_be_locked_;
};

SandboxRules rules_of(const BrokerTask& task, const std::vector<std::string>& targets) {
  SandboxRules rules;
  for (const std::string& file : targets) rules.writable_folders.push_back(folder_of(file));
  for (const std::string& file : task.new_databases) rules.writable_folders.push_back(folder_of(file));
  for (const std::string& folder : task.temporary_folders) rules.growing_folders.push_back(folder_of(folder));
  return rules;
}

[[noreturn]] void run_broker(int socket, const BrokerTask& task, const std::vector<std::string>& targets) {
  // What ends who asks must not end this before it has tidied up; that comes with the end of the socket.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  close_descriptors_but({socket});
  enter_sandbox(rules_of(task, targets));
  try {
    Broker broker(socket, task, targets);
    broker.serve();
    broker.tidy_up();
  } catch (...) {
    ::_exit(1);  // who asks learns it by the end of the socket
  }
  ::_exit(0);
}

std::unique_ptr<OutputBroker> broker_of_process;

}  // namespace

OutputBroker::OutputBroker(BrokerTask task) : task_(std::move(task)) {
  for (const std::string& path : task_.new_databases) {
    FileDescriptor& made = made_.emplace_back(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (made.is_open()) static_cast<void>(::flock(made.number(), LOCK_SH));
  }
  // Here, because a name may mean something of this process: /dev/stdout is what it has open.
  std::vector<std::string> targets;
  for (const std::string& file : task_.files) targets.push_back(followed(file));
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  FileDescriptor own(ends[0]);
  FileDescriptor other(ends[1]);
  process_ = ::fork();
  if (process_ == 0) run_broker(other.release(), task_, targets);
  if (process_ > 0) socket_ = std::move(own);
}

OutputBroker::~OutputBroker() {
  if (!is_running()) return;
  made_.clear();
  socket_ = FileDescriptor();
  uninterrupted([&] { return ::waitpid(process_, nullptr, 0); });
}

bool OutputBroker::knows(const std::string& path) const {
  return std::find(task_.files.begin(), task_.files.end(), path) != task_.files.end();
}

int OutputBroker::ask(unsigned action, const std::string& path, FileDescriptor* file) const {
  const auto place = std::find(task_.files.begin(), task_.files.end(), path) - task_.files.begin();
  const BrokerRequest request = {action, static_cast<std::uint32_t>(place)};
  BrokerReply reply;
  if (!send_message(socket_.number(), &request, sizeof(request), -1)) return EIO;
  return receive_message(socket_.number(), &reply, sizeof(reply), file) ? reply.error : EIO;
}

int OutputBroker::begin(const std::string& path, FileDescriptor& file) const {
  return ask(kBegin, path, &file);
}

int OutputBroker::finish(const std::string& path) const {
  return ask(kFinish, path, nullptr);
}

int OutputBroker::append(const std::string& path, FileDescriptor& file) const {
  return ask(kAppend, path, &file);
}

int OutputBroker::lock(const std::string& path, FileDescriptor& file) const {
  return ask(kLock, path, &file);
}

const OutputBroker* output_broker() {
  return broker_of_process.get();
}

void start_output_broker(BrokerTask task) {
  auto broker = std::make_unique<OutputBroker>(std::move(task));
  if (broker->is_running()) broker_of_process = std::move(broker);
}

}  // namespace doctor
