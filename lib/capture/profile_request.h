#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace doctor {

/// The gRPC method that makes a trace, as a path of HTTP.
inline constexpr std::string_view kProfileMethod = "/tensorflow.ProfilerService/Profile";

/// What a profiler is asked for.
struct ProfileRequest {
  std::chrono::milliseconds duration{};

  // Where a server older than TensorFlow's field `emit_xspace` (2.20 and before) stores the trace, on its own disk:
  // <repository_root>/<run>/<host>.xplane.pb. Newer ones return it, and ignore these.
  std::string repository_root;
  std::string run;
  std::string host;
};

/// The request as the body of an HTTP/2 request: a gRPC message with a `ProfileRequest` in it. The schemas:
/// tsl/profiler/protobuf/profiler_service.proto and profiler_options.proto.
std::string encode_profile_request(const ProfileRequest& request);

}  // namespace doctor
