#pragma once

#include <chrono>

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

// The framing of gRPC messages in HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.

/// The size of a message's prefix: one byte that is 1 if the message is compressed, and its length.
inline constexpr std::size_t kGrpcPrefixSize = 5;

struct GrpcPrefix {
  bool is_compressed = false;
  std::uint32_t length = 0;
};

/// Reads the prefix of a message from kGrpcPrefixSize bytes.
GrpcPrefix read_grpc_prefix(std::string_view bytes);

/// A message of less than 4 GiB with its prefix, uncompressed.
std::string in_grpc_frame(std::string_view message);

// Values of `grpc-status`: https://github.com/grpc/grpc/blob/master/doc/statuscodes.md.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcUnavailable = 14;

/// "INTERNAL" for 13; "status 99" for a status that gRPC does not define.
std::string grpc_status_name(int status);

/// The text of the header `grpc-message`, which is percent-encoded. Anything that is not an escape is kept.
std::string decode_grpc_message(std::string_view encoded);

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

/// Reads the answer of a profiler as it comes, in pieces of any size: one gRPC message with a `ProfileResponse`, whose
/// XSpace goes to a sink. It keeps nothing of it in memory, however large it is.
class ProfileAnswer {
 public:
  /// The XSpace goes to `trace`. A message of more than `most_bytes` is rejected before anything of it is stored.
  ProfileAnswer(ByteSink& trace, std::uint64_t most_bytes) : trace_(trace), most_bytes_(most_bytes) {}

  /// Takes the next bytes of the body. Errors: the message is not a ProfileResponse, it is too large, or the sink takes
  /// no more. Errors have no place: the caller knows where the bytes come from.
  Result<void> take(std::string_view bytes);

  /// Called at the end of the body. Errors: the message is not complete.
  Result<void> finish() const;

  /// True if the message announced more bytes than may be taken.
  bool is_too_large() const { return is_too_large_; }

  /// Bytes of the XSpace so far.
  std::uint64_t trace_bytes() const { return trace_bytes_; }

  /// True if the profiler says that nothing ran during the capture.
  bool is_empty() const { return is_empty_; }

 private:
  Result<void> take_prefix();
  Result<void> take_field_head();

  ByteSink& trace_;
  std::uint64_t most_bytes_;
  std::string head_;              ///< the bytes read so far of a prefix, or of a field's tag and length
  bool has_prefix_ = false;       ///< the prefix of the message was read
  std::uint64_t left_ = 0;        ///< bytes of the message still to come
  std::uint64_t value_left_ = 0;  ///< bytes of the field's value still to come
  bool is_trace_ = false;         ///< the value is the XSpace
  bool has_trace_ = false;        ///< there was an XSpace
  bool is_empty_ = false;
  bool is_too_large_ = false;
  std::uint64_t trace_bytes_ = 0;
};

}  // namespace doctor
