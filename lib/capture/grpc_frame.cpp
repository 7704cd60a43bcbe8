#include "capture/grpc_frame.h"

#include <array>
#include <optional>

namespace doctor {
namespace {

constexpr std::array<std::string_view, 17> kStatusNames = {
    "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
};

std::optional<unsigned> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

GrpcPrefix read_grpc_prefix(std::string_view bytes) {
  GrpcPrefix prefix;
  prefix.is_compressed = bytes[0] != 0;
  for (const char byte : bytes.substr(1, 4)) prefix.length = prefix.length << 8 | static_cast<unsigned char>(byte);
  return prefix;
}

std::string in_grpc_frame(std::string_view message) {
  std::string frame(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) frame += static_cast<char>(message.size() >> shift & 0xff);
  return frame.append(message);
}

std::string grpc_status_name(int status) {
  const auto index = static_cast<std::size_t>(status);
  return status >= 0 && index < kStatusNames.size() ? std::string(kStatusNames[index])
                                                    : "status " + std::to_string(status);
}

std::string decode_grpc_message(std::string_view encoded) {
  std::string text;
  for (std::size_t index = 0; index < encoded.size(); ++index) {
    const bool may_be_escape = encoded[index] == '%' && index + 2 < encoded.size();
    const auto high = may_be_escape ? hexadecimal_digit(encoded[index + 1]) : std::nullopt;
    const auto low = may_be_escape ? hexadecimal_digit(encoded[index + 2]) : std::nullopt;
    if (high && low) {
      text += static_cast<char>(*high << 4 | *low);
      index += 2;
    } else {
      text += encoded[index];
    }
  }
  return text;
}

}  // namespace doctor
