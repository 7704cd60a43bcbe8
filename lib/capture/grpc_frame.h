#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace doctor
