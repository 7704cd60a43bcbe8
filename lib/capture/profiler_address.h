#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// The address at which a job that runs `tf.profiler.experimental.server.start(port)` listens.
struct ProfilerAddress {
  std::string host;  ///< a name or an address, IPv6 without brackets; only characters that a URL takes unescaped
  std::uint16_t port = 0;
};

/// Parses "HOST:PORT[,HOST:PORT...]", each also as "[IPv6]:PORT" and with "grpc://" before it, as TensorFlow's client
/// accepts them. Errors: not an address, no port, one that is named twice.
Result<std::vector<ProfilerAddress>> parse_profiler_addresses(std::string_view text);

/// "worker0:6009", "[::1]:6009".
std::string to_string(const ProfilerAddress& address);

/// "worker0_6009": the name of a host in file names, as TensorFlow forms it.
std::string file_stem(const ProfilerAddress& address);

}  // namespace doctor
