#include "capture/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "base/parse.h"
#include "base/try.h"
#include "capture/http2_calls.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kConnectLimit{10};
constexpr std::chrono::milliseconds kLongestPause = std::chrono::minutes(1);  // before a retry

/// Why a host has no trace.
struct CaptureFailure {
  Error error;
  bool may_pass = false;
};

/// Errors: what was sent is not the status of gRPC.
std::optional<int> grpc_status_of(const Http2Answer& answer) {
  const auto header = answer.headers.find("grpc-status");
  if (header == answer.headers.end()) return std::nullopt;
  return parse_whole<int>(header->second);
}

std::string server_hint(const ProfilerAddress& address) {
  return fmt::format("does the job run, and does it call tf.profiler.experimental.server.start({})?", address.port);
}

CaptureFailure failure_of_transport(const Http2Answer& answer, const ProfilerAddress& address) {
  const auto failure = [&](std::string what, std::string next, bool may_pass) {
    return CaptureFailure{{std::move(what), to_string(address), {}, std::move(next)}, may_pass};
  };
  switch (*answer.failure) {
    case Http2Failure::unknown_host:
      return failure("there is no host of that name", {}, false);
    case Http2Failure::not_connected:
      return failure("nothing listens there", server_hint(address), true);
    case Http2Failure::connection_timed_out:
      return failure("nobody answers at that address", "is it the right one, and may this machine reach it?", true);
    case Http2Failure::timed_out:
      return failure("the profiler did not answer in time",
                     "allow more with --timeout, or capture less with --duration", true);
    case Http2Failure::no_answer:
      return failure("the connection ended without an answer (" + answer.detail + ")",
                     "either the job ended, or what listens there is not TensorFlow's profiler", true);
    case Http2Failure::broken_off:
      return failure("the answer broke off (" + answer.detail + ")", "did the job end?", true);
    case Http2Failure::refused:  // its error is known to who refused
    case Http2Failure::cancelled:
      break;
  }
  return failure("interrupted", {}, false);
}

/// TensorFlow says so in words alone: "Another profiling session active.", "Another profiler session is active."
bool says_busy(const std::string& message) {
  return message.find("nother profil") != std::string::npos && message.find("session") != std::string::npos;
}

/// What a gRPC server says in place of a trace.
CaptureFailure failure_of_server(int status, const std::string& message, const ProfilerAddress& address) {
  const std::string where = to_string(address);
  if (says_busy(message)) {
    return {{"another capture is running",
             where,
             {},
             "wait for its end, or use --retries; a callback of the job itself is one, too"},
            true};
  }
  if (status == kGrpcUnimplemented) {
    return {{"a gRPC server without a profiler listens there",
             where,
             {},
             "name the port of tf.profiler.experimental.server.start(), not that of another service"},
            false};
  }
  const std::string what = fmt::format("the profiler failed: {}{}", message.empty() ? "" : message + " ",
                                       "(" + grpc_status_name(status) + ")");
  return {
      {what,
       where,
       {},
       "servers before TensorFlow 2.21 write the trace to their own disk: name a folder with -o that they can write"},
      status == kGrpcUnavailable};
}

/// Why the answer is not that of a profiler; nothing if it is, and the profiler succeeded.
std::optional<CaptureFailure> failure_in(const Http2Answer& answer, const ProfilerAddress& address) {
  if (answer.failure) return failure_of_transport(answer, address);
  const auto type = answer.headers.find("content-type");
  const std::string type_name = type == answer.headers.end() ? "no type" : type->second;
  if (answer.status != 200 || !type_name.starts_with("application/grpc")) {
    return CaptureFailure{{fmt::format("not a profiler: it answers with HTTP {} and {}", answer.status, type_name),
                           to_string(address),
                           {},
                           "name the port of tf.profiler.experimental.server.start()"},
                          false};
  }
  const std::optional<int> status = grpc_status_of(answer);
  if (!status)
    return CaptureFailure{{"the answer has no status of gRPC", to_string(address), {}, "is there a proxy between?"},
                          false};
  if (*status == kGrpcOk) return std::nullopt;
  const auto message = answer.headers.find("grpc-message");
  const std::string text = message == answer.headers.end() ? std::string() : decode_grpc_message(message->second);
  return failure_of_server(*status, text, address);
}

/// A host while it is captured. Its call refers to it, so it stays where it is.
class CapturedHost {
 public:
  CapturedHost(ProfilerAddress address, const CaptureOptions& options, const std::string& log_directory,
               const std::string& run)
      : address_(std::move(address)),
        options_(options),
        root_(fs::path(run_folder(log_directory, run)).parent_path().string()),
        run_(run),
        path_(run_folder(log_directory, run) + "/" + file_stem(address_) + ".xplane.pb") {}

  /// `start_ns`: see ProfileRequest. Errors: the trace cannot be stored.
  Result<Http2Call> begin(std::uint64_t start_ns) {
    ASSIGN_OR_RETURN(file_, options_.open_file(path_));
    answer_.emplace(*file_, options_.most_bytes);
    refusal_.reset();
    const ProfileRequest request = {options_.duration, root_, run_, file_stem(address_), options_.tracers, start_ns};
    return Http2Call{.address = address_,
                     .path = kProfileMethod,
                     .body = encode_profile_request(request),
                     .connect_limit = std::min<std::chrono::milliseconds>(kConnectLimit, options_.timeout),
                     .time_limit = options_.tracers.delay.value_or(std::chrono::milliseconds(0)) + options_.duration +
                                   options_.timeout,
                     .take = [this](std::string_view bytes) { return take(bytes); }};
  }

  HostCapture end(const Http2Answer& answer) {
    if (refusal_) return failed({*std::move(refusal_), false});
    if (std::optional<CaptureFailure> failure = failure_in(answer, address_)) return failed(*std::move(failure));
    if (Result<void> whole = answer_->finish(); !whole) return failed({at_host(std::move(whole.error())), true});
    if (answer_->is_empty()) {
      return failed({{"nothing ran during the capture",
                      to_string(address_),
                      {},
                      "capture while the job trains, or longer with --duration"},
                     true});
    }
    if (answer_->trace_bytes() == 0) return find_on_disk();
    if (Result<void> stored = file_->finish(); !stored) return failed({std::move(stored.error()), false});
    return {address_, path_, false};
  }

  const ProfilerAddress& address() const { return address_; }

 private:
  Result<void> take(std::string_view bytes) {
    Result<void> taken = answer_->take(bytes);
    if (taken) return taken;
    refusal_ = taken.error().where.empty() ? at_host(taken.error()) : taken.error();
    if (answer_->is_too_large()) refusal_->next = "capture less with --duration, or allow more with --max-size";
    return taken;
  }

  /// A server that did not return its trace wrote it to its disk, which may be this one.
  HostCapture find_on_disk() {
    std::error_code error;
    if (fs::file_size(path_, error) > 0 && !error) return {address_, path_, false};
    return failed(
        {{"the profiler wrote the trace to its own disk, as servers before TensorFlow 2.21 do",
          to_string(address_),
          {},
          fmt::format("it is {} there: copy it from that machine, or name a folder with -o that both see", path_)},
         false});
  }

  Error at_host(Error error) const {
    error.where = to_string(address_);
    return error;
  }

  HostCapture failed(CaptureFailure failure) {
    file_.reset();
    std::error_code ignored;
    fs::remove(path_, ignored);  // what a server before TensorFlow 2.21 wrote of a job that is idle
    return {address_, Unexpected(std::move(failure.error)), failure.may_pass};
  }

  const ProfilerAddress address_;
  const CaptureOptions& options_;
  const std::string root_;
  const std::string run_;
  const std::string path_;
  std::unique_ptr<ByteSink> file_;
  std::optional<ProfileAnswer> answer_;
  std::optional<Error> refusal_;  ///< why bytes of the answer were not taken
};

/// On the clock of this machine, `from_now`.
std::uint64_t nanoseconds_since_1970(std::chrono::milliseconds from_now) {
  const auto since = std::chrono::system_clock::now().time_since_epoch() + from_now;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// Captures the hosts once, all at the same time.
Result<void> capture_once(const std::vector<HostCapture*>& wanted, const CaptureOptions& options,
                          const std::string& log_directory, const std::string& run) {
  std::deque<CapturedHost> hosts;
  std::vector<HostCapture*> called;
  std::vector<Http2Call> calls;
  const std::uint64_t start_ns = options.tracers.delay ? nanoseconds_since_1970(*options.tracers.delay) : 0;
  for (HostCapture* const host : wanted) {
    hosts.emplace_back(host->address, options, log_directory, run);
    Result<Http2Call> call = hosts.back().begin(start_ns);
    if (!call) {
      *host = {host->address, Unexpected(std::move(call.error())), false};
      hosts.pop_back();
      continue;
    }
    called.push_back(host);
    calls.push_back(*std::move(call));
  }
  const auto is_cancelled = [&] { return !options.wait(std::chrono::milliseconds(0)); };
  ASSIGN_OR_RETURN(const std::vector<Http2Answer> answers, make_http2_calls(calls, is_cancelled));
  for (std::size_t index = 0; index < called.size(); ++index) *called[index] = hosts[index].end(answers[index]);
  return {};
}

}  // namespace

std::string run_folder(const std::string& log_directory, const std::string& run) {
  return (fs::path(log_directory) / "plugins" / "profile" / run).string();
}

Result<std::vector<HostCapture>> capture_hosts(const CaptureOptions& options, const std::string& log_directory,
                                               const std::string& run) {
  std::vector<HostCapture> captures;
  for (const ProfilerAddress& address : options.hosts) captures.push_back({address, std::string(), false});
  std::vector<HostCapture*> wanted;
  wanted.reserve(captures.size());
  for (HostCapture& capture : captures) wanted.push_back(&capture);
  std::chrono::milliseconds pause = options.retry_after;
  for (std::size_t round = 0; !wanted.empty() && round <= options.retries; ++round) {
    if (round > 0 && !options.wait(std::exchange(pause, std::min(2 * pause, kLongestPause)))) break;
    RETURN_IF_ERROR(capture_once(wanted, options, log_directory, run));
    std::erase_if(wanted, [](const HostCapture* host) { return host->file.has_value() || !host->may_pass; });
  }
  return captures;
}

}  // namespace doctor
