#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doctor {

/// The gRPC method that makes a trace, as an HTTP path.
inline constexpr std::string_view kProfileMethod = "/tensorflow.ProfilerService/Profile";

/// The amount that a profiler records, as in tf.profiler.experimental.ProfilerOptions, with its defaults.
struct TracerOptions {
  std::uint64_t host_level = 2;    ///< 0: nothing; 1: what the program marks itself; 2: ops and tf.data; 3: all
  std::uint64_t device_level = 1;  ///< 0: nothing
  std::uint64_t python_level = 0;  ///< 1: Python's calls, which are expensive
  /// The delay after which all hosts of a job begin, counted from the request, as far as their clocks agree; nullopt:
  /// each at once.
  std::optional<std::chrono::milliseconds> delay = {};
};

/// The content of a request to a profiler.
struct ProfileRequest {
  std::chrono::milliseconds duration{};

  // The place where a server older than TensorFlow's field `emit_xspace` (2.20 and before) stores the trace, on its own
  // disk: <repository_root>/<run>/<host>.xplane.pb. Newer servers return the trace, and ignore these members.
  std::string repository_root;
  std::string run;
  std::string host;

  TracerOptions tracers = {};
  std::uint64_t start_ns = 0;  ///< when the profiler begins, in nanoseconds since 1970; 0: at once
};

/// The request as the body of an HTTP/2 request: a gRPC message with a `ProfileRequest` in it. The schemas:
/// tsl/profiler/protobuf/profiler_service.proto and profiler_options.proto.
std::string encode_profile_request(const ProfileRequest& request);

}  // namespace doctor
