#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doctor {

/// The gRPC method that makes a trace, as a path of HTTP.
inline constexpr std::string_view kProfileMethod = "/tensorflow.ProfilerService/Profile";

/// How much a profiler records, as tf.profiler.experimental.ProfilerOptions has it, with its defaults.
struct TracerOptions {
  std::uint64_t host_level = 2;    ///< 0: nothing; 1: what the program marks itself; 2: ops and tf.data; 3: all
  std::uint64_t device_level = 1;  ///< 0: nothing
  std::uint64_t python_level = 0;  ///< 1: Python's calls, which cost much
  /// All hosts of a job begin so long after they are asked, as far as their clocks agree; nothing: each at once.
  std::optional<std::chrono::milliseconds> delay = {};
};

/// What a profiler is asked for.
struct ProfileRequest {
  std::chrono::milliseconds duration{};

  // Where a server older than TensorFlow's field `emit_xspace` (2.20 and before) stores the trace, on its own disk:
  // <repository_root>/<run>/<host>.xplane.pb. Newer ones return it, and ignore these.
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
