#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>

#include "base/result.h"
#include "capture/profiler_address.h"

namespace doctor {

/// A POST over HTTP/2 without TLS and without negotiation ("prior knowledge"), as insecure gRPC uses it.
struct Http2Call {
  ProfilerAddress address;
  std::string_view path;
  std::string body;
  std::chrono::milliseconds connect_limit{};
  std::chrono::milliseconds time_limit{};  ///< for the whole call

  /// Takes the body of the answer piece by piece. If it returns an error, no more is wanted, and the call ends with
  /// Http2Failure::refused.
  std::function<Result<void>(std::string_view)> take;
};

/// The reason why there is no whole answer.
enum class Http2Failure {
  unknown_host,
  not_connected,         ///< refused or unreachable: nothing listens
  connection_timed_out,  ///< nobody answers at that address
  timed_out,             ///< connected, but the answer did not come in time
  no_answer,             ///< the connection ended first: the job ended, or the server does not speak HTTP/2 without TLS
  broken_off,            ///< the connection ended after the answer had begun
  refused,               ///< by Http2Call::take
  cancelled,
};

struct Http2Answer {
  std::optional<Http2Failure> failure;
  std::string detail;                                       ///< of a failure, in libcurl's words
  long status = 0;                                          ///< of HTTP; 0: no answer began
  std::map<std::string, std::string, std::less<>> headers;  ///< headers and trailers; names in lower case
};

/// Makes all calls at once and waits until they end; ends them early once `is_cancelled` returns true, which is asked
/// several times a second. The answers are in the order of the calls. No proxy is used, whatever the environment says:
/// a profiler is next to the job, and a trace is nobody else's business. Errors: this program or machine has no
/// libcurl.
Result<std::vector<Http2Answer>> make_http2_calls(std::span<const Http2Call> calls,
                                                  const std::function<bool()>& is_cancelled);

}  // namespace doctor
