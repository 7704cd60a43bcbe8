#include "capture_process.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "io/file_io.h"
#include "process/child_process.h"
#include "process/interruption.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

// A request is one of these words, an answer JSON.
constexpr std::string_view kCapture = "capture";
constexpr std::string_view kRemove = "remove";

constexpr int kMostRunsASecond = 1'000;
constexpr std::chrono::milliseconds kLookForSignals{200};  // one may come just before a wait

/// Makes the folder of a run of its own and gives its name: the local time, as TensorFlow has it. Errors: it cannot be
/// made.
Result<std::string> make_run(const std::string& log_directory) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string time = fmt::format("{:%Y_%m_%d_%H_%M_%S}", local);
  std::error_code error;
  fs::create_directories(fs::path(run_folder(log_directory, time)).parent_path(), error);
  for (int number = 1; !error && number <= kMostRunsASecond; ++number) {
    const std::string run = number == 1 ? time : fmt::format("{}_{}", time, number);
    if (fs::create_directory(run_folder(log_directory, run), error)) return run;
  }
  return fail("no folder for traces can be made: " + error.message(), run_folder(log_directory, time),
              "name a log directory with -o");
}

/// Removes the folder of a run that has no trace, and the folders above that are empty then, the log directory not.
void remove_empty_folders(const fs::path& run) {
  fs::path folder = run;
  for (int level = 0; level < 3 && ::rmdir(folder.c_str()) == 0; ++level) folder = folder.parent_path();
}

OrderedJson error_json(const Error& error) {
  return {{"what", error.what}, {"where", error.where}, {"next", error.next}};
}

/// Of what another process says, which may have been taken over by a server: every member may be missing or of another
/// type.
std::string text_in(const OrderedJson& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

std::optional<Error> error_in(const OrderedJson& object) {
  if (!object.is_object() || !object.contains("error")) return std::nullopt;
  const OrderedJson& error = object["error"];
  return Error{text_in(error, "what"), text_in(error, "where"), {}, text_in(error, "next")};
}

std::string answer_text(const Result<CapturedRun>& captured) {
  OrderedJson answer;
  if (!captured) {
    answer["error"] = error_json(captured.error());
    return to_line(answer);
  }
  answer["run"] = captured->run;
  answer["hosts"] = OrderedJson::array();
  for (const HostCapture& host : captured->hosts) {
    OrderedJson& entry = answer["hosts"].emplace_back(OrderedJson::object());
    if (!host.file) entry["error"] = error_json(host.file.error());
  }
  return to_line(answer);
}

/// The work of the process.
class Capturer {
 public:
  Capturer(CaptureOptions options, std::string log_directory, int socket)
      : options_(std::move(options)), log_directory_(std::move(log_directory)), socket_(socket) {
    // Whatever is said meanwhile, also that nobody is there any more, is to end it.
    options_.wait = [socket](std::chrono::milliseconds time) { return !comes(socket, POLLIN, time); };
  }

  void serve() {
    std::string unread;
    while (const std::optional<Message> request = receive(socket_, unread)) answer(request->text);
    if (!is_answered_) remove_last();
  }

 private:
  void answer(std::string_view request) {
    if (request == kRemove) remove_last();
    if (request != kCapture) return;
    const Result<CapturedRun> captured = capture();
    is_answered_ = send(socket_, MessageKind::result, answer_text(captured));
    // Nobody heard it: what was captured goes again.
  }

  Result<CapturedRun> capture() {
    is_answered_ = false;
    last_.clear();
    ASSIGN_OR_RETURN(const std::string run, make_run(log_directory_));
    last_ = run_folder(log_directory_, run);
    Result<std::vector<HostCapture>> hosts =
        capture_hosts(options_, fs::absolute(log_directory_).lexically_normal().string(), run);
    remove_empty_folders(last_);
    if (!hosts) return Unexpected(std::move(hosts.error()));
    return CapturedRun{run, *std::move(hosts)};
  }

  void remove_last() {
    std::error_code ignored;  // a trace too many need not end the watch
    if (!last_.empty()) fs::remove_all(last_, ignored);
    if (!last_.empty()) remove_empty_folders(fs::path(last_).parent_path());
    last_.clear();
  }

  CaptureOptions options_;
  const std::string log_directory_;
  const int socket_;
  std::string last_;  ///< folder of the last run; empty: none
  bool is_answered_ = true;
};

[[noreturn]] void run_capturer(int socket, const CaptureOptions& options, const std::string& log_directory,
                               const SandboxChoice& choice) {
  // What ends the other side ends this when its socket ends, with nothing left half done.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
  close_descriptors_but({socket});
  if (choice.is_wanted) {
    const Sandbox sandbox = enter_sandbox(sandbox_plan({.log_directory = log_directory}).rules);
    if (!judge_sandbox(choice, sandbox)) ::_exit(1);  // the other process says why
  }
  try {
    Capturer(options, log_directory, socket).serve();
  } catch (...) {
    ::_exit(1);  // the other side learns it by the end of the socket
  }
  ::_exit(0);
}

Error ended_error() {
  return {"the process that captures has ended", {}, {}, "please report it"};
}

}  // namespace

CaptureProcess::CaptureProcess(const CaptureOptions& options, const std::string& log_directory,
                               const SandboxChoice& sandbox)
    : options_(options) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  FileDescriptor own(ends[0]);
  const FileDescriptor other(ends[1]);
  process_ = ::fork();
  if (process_ == 0) {
    own = FileDescriptor();
    run_capturer(other.number(), options, log_directory, sandbox);
  }
  if (process_ > 0) socket_ = std::move(own);
}

CaptureProcess::~CaptureProcess() {
  if (!socket_.is_open()) return;
  socket_ = FileDescriptor();
  uninterrupted([&] { return ::waitpid(process_, nullptr, 0); });
}

bool CaptureProcess::ask(std::string_view request) const {
  return socket_.is_open() && send(socket_.number(), MessageKind::task, request);
}

/// Waits for an answer. A signal makes it come soon.
Result<std::string> CaptureProcess::wait_for_answer() {
  bool is_cancelled = false;
  while (true) {
    if (std::optional<Message> message = take_message(unread_)) return std::move(message->text);
    if (interrupting_signal() != 0 && !is_cancelled) {
      is_cancelled = true;
      static_cast<void>(ask(kRemove));
    }
    if (!comes(socket_.number(), POLLIN, kLookForSignals)) continue;
    if (!read_more(socket_.number(), unread_)) return Unexpected(ended_error());
  }
}

Result<CapturedRun> CaptureProcess::capture() {
  if (!ask(kCapture)) return Unexpected(ended_error());
  ASSIGN_OR_RETURN(const std::string text, wait_for_answer());
  const OrderedJson answer = OrderedJson::parse(text, nullptr, false);
  if (std::optional<Error> error = error_in(answer)) return Unexpected(*std::move(error));
  CapturedRun captured = {text_in(answer, "run"), {}};
  const bool is_whole = answer.is_object() && answer.contains("hosts") && answer["hosts"].is_array() &&
                        answer["hosts"].size() == options_.hosts.size();
  if (!is_whole) return Unexpected(ended_error());
  for (std::size_t index = 0; index < options_.hosts.size(); ++index) {
    HostCapture host = {options_.hosts[index]};
    if (std::optional<Error> error = error_in(answer["hosts"][index])) host.file = Unexpected(*std::move(error));
    captured.hosts.push_back(std::move(host));
  }
  return captured;
}

void CaptureProcess::remove_last_run() {
  static_cast<void>(ask(kRemove));
}

}  // namespace doctor
