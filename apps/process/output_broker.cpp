#include "process/output_broker.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>

#include "io/file_io.h"
#include "io/replaced_file.h"
#include "process/child_process.h"
#include "process/sandbox.h"

namespace doctor {
namespace {

/// For how long its answer is waited for. To store a file takes as long as the disk does.
constexpr std::chrono::seconds kPatience{120};
/// For how long it may live on without who asks.
constexpr std::chrono::seconds kTimeToTidyUp{10};

struct BrokerRequest {
  BrokerAction action = BrokerAction::begin;
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

/// Receives a message of exactly `size` bytes, and the descriptor that came with it. False at the end, and, with errno
/// EAGAIN, where none came in time.
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
  errno = 0;
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

/// A file that was made before it was known whether there would be something to store. Other programs that are about to
/// fill it have it locked.
void remove_if_unused(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return;
  if (::fstat(file.number(), &status) != 0 || status.st_size != 0 || !is_named(path, file.number())) return;
  // Of a database, first, while whoever makes it anew must still wait.
  ::unlink((path + "-journal").c_str());
  ::unlink(path.c_str());
}

/// The work of the process that is the broker.
class Broker {
 public:
  Broker(int socket, const BrokerTask& task, const std::vector<std::string>& targets, std::vector<std::string> made)
      : socket_(socket), task_(task), targets_(targets), made_(std::move(made)) {}

  void serve() {
    BrokerRequest request;
    while (receive_message(socket_, &request, sizeof(request), nullptr)) {
      int descriptor = -1;
      BrokerReply reply = {EINVAL};
      if (request.action == BrokerAction::end) return;
      if (request.file < targets_.size()) reply.error = answer(request, descriptor);
      const bool is_sent = send_message(socket_, &reply, sizeof(reply), reply.error == 0 ? descriptor : -1);
      sent_ = FileDescriptor();  // a lock on it is that of who asked
      if (!is_sent) return;
    }
  }

  void tidy_up() {
    begun_.clear();
    for (const std::string& folder : task_.temporary_folders) remove_folder(folder);
    for (const std::string& file : made_) remove_if_unused(file);
    const BrokerReply reply = {0};
    send_message(socket_, &reply, sizeof(reply), -1);
  }

 private:
  int answer(const BrokerRequest& request, int& descriptor) {
    switch (request.action) {
      case BrokerAction::begin: {
        ReplacedFile& file = begun_[request.file] = ReplacedFile();
        const int error = file.begin(targets_[request.file]);
        descriptor = file.file().number();
        return error;
      }
      case BrokerAction::finish: {
        const auto begun = begun_.find(request.file);
        if (begun == begun_.end()) return EINVAL;
        const int error = begun->second.finish();
        begun_.erase(begun);
        return error;
      }
      case BrokerAction::append:
        return hand_over(::open(targets_[request.file].c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666),
                         descriptor);
      case BrokerAction::open:
        if (::access(targets_[request.file].c_str(), F_OK) != 0) made_.push_back(targets_[request.file]);
        return hand_over(::open(targets_[request.file].c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666), descriptor);
      default:
        return EINVAL;
    }
  }

  /// Kept until it is sent.
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
  std::vector<std::string> made_;  ///< for what may be stored in them
};

SandboxRules rules_of(const BrokerTask& task, const std::vector<std::string>& targets) {
  SandboxRules rules;
  for (const std::string& file : targets) rules.writable_folders.push_back(folder_of(file));
  for (const std::string& file : task.empty_databases) rules.writable_folders.push_back(folder_of(file));
  for (const std::string& folder : task.temporary_folders) rules.growing_folders.push_back(folder_of(folder));
  return rules;
}

/// Whatever holds it up then, as a disk that does not answer, must not keep it for ever.
void end_soon(int /*signal*/) {
  const itimerval time = {{0, 0}, {kTimeToTidyUp.count(), 0}};
  ::setitimer(ITIMER_REAL, &time, nullptr);
}

[[noreturn]] void run_broker(int socket, pid_t client, const BrokerTask& task, const std::vector<std::string>& targets,
                             const std::vector<std::string>& made) {
  // What ends who asks must not end this before it has tidied up; that comes with the end of the socket.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGUSR1, end_soon);
  ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
  if (::getppid() != client) end_soon(SIGUSR1);
  close_descriptors_but({socket});
  enter_sandbox(rules_of(task, targets));
  try {
    Broker broker(socket, task, targets, made);
    broker.serve();
    broker.tidy_up();
  } catch (...) {
    ::_exit(1);  // who asks learns it by the end of the socket
  }
  ::_exit(0);
}

std::unique_ptr<OutputBroker> broker_of_process;

}  // namespace

std::vector<std::string> OutputBroker::make_databases() {
  constexpr std::chrono::seconds kAllButForEver{1};  // to look whether one is empty takes no time
  std::vector<std::string> made;
  for (const std::string& path : task_.empty_databases) {
    if (::access(path.c_str(), F_OK) != 0) made.push_back(path);
    if (Result<FileDescriptor> file = lock_by_name(path, open_to_change, LOCK_SH, kAllButForEver)) {
      held_.push_back(*std::move(file));
    }
  }
  return made;
}

bool OutputBroker::fork_broker(const std::vector<std::string>& made) {
  // Here, because a name may mean something of this process: /dev/stdout is what it has open.
  std::vector<std::string> targets;
  for (const std::string& file : task_.files) targets.push_back(followed(file));
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  FileDescriptor own(ends[0]);
  FileDescriptor other(ends[1]);
  const timeval patience = {kPatience.count(), 0};
  ::setsockopt(own.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const pid_t client = ::getpid();
  process_ = ::fork();
  if (process_ == 0) run_broker(other.release(), client, task_, targets, made);
  if (process_ > 0) socket_ = std::move(own);
  return process_ > 0;
}

OutputBroker::OutputBroker(BrokerTask task) : task_(std::move(task)) {
  const std::vector<std::string> made = make_databases();
  if (fork_broker(made)) return;
  error_ = errno;
  held_.clear();
  for (const std::string& path : made) remove_if_unused(path);
  for (const std::string& folder : task_.temporary_folders) remove_folder(folder);
}

OutputBroker::~OutputBroker() {
  if (!is_running()) return;
  held_.clear();
  if (ask(BrokerAction::end, {}) != kNoBrokerAnswer) {
    uninterrupted([&] { return ::waitpid(process_, nullptr, 0); });
    return;
  }
  static_cast<void>(write_all(STDERR_FILENO, "tfdata-doctor: " + to_string(broker_error({}, kNoBrokerAnswer)) + "\n"));
}

bool OutputBroker::knows(const std::string& path) const {
  return std::ranges::find(task_.files, path) != task_.files.end();
}

int OutputBroker::ask(BrokerAction action, const std::string& path, FileDescriptor* file) const {
  const auto place = std::ranges::find(task_.files, path) - task_.files.begin();
  const BrokerRequest request = {action, static_cast<std::uint32_t>(place)};
  BrokerReply reply;
  if (!send_message(socket_.number(), &request, sizeof(request), -1)) return EIO;
  if (receive_message(socket_.number(), &reply, sizeof(reply), file)) return reply.error;
  return errno == EAGAIN ? kNoBrokerAnswer : EIO;
}

Error broker_error(const std::string& path, int error) {
  if (error != kNoBrokerAnswer) return path_error(path, error);
  return {fmt::format("the process that writes files has not answered for {} s", kPatience.count()), path, {}, {}};
}

const OutputBroker* broker_of(const std::string& path) {
  return broker_of_process != nullptr && broker_of_process->knows(path) ? broker_of_process.get() : nullptr;
}

Result<void> start_output_broker(BrokerTask task) {
  auto broker = std::make_unique<OutputBroker>(std::move(task));
  if (!broker->is_running()) {
    return fail(fmt::format("no process can be had that writes files: {}", std::strerror(broker->error())), {},
                "end other programs, or allow more of what is short");
  }
  broker_of_process = std::move(broker);
  return {};
}

}  // namespace doctor
