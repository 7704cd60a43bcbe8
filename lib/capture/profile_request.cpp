#include "capture/grpc_frame.h"
#include "capture/profile_messages.h"
#include "trace/wire.h"

namespace doctor {
namespace {

/// Field numbers of ProfileRequest.
namespace request_field {
constexpr std::uint32_t kDuration = 1;
constexpr std::uint32_t kOptions = 4;
constexpr std::uint32_t kRepositoryRoot = 5;
constexpr std::uint32_t kSessionId = 6;
constexpr std::uint32_t kHostName = 7;
constexpr std::uint32_t kEmitXspace = 9;
}  // namespace request_field

/// Field numbers of ProfileOptions.
namespace options_field {
constexpr std::uint32_t kHostTracerLevel = 2;
constexpr std::uint32_t kDeviceTracerLevel = 3;
constexpr std::uint32_t kPythonTracerLevel = 4;
constexpr std::uint32_t kVersion = 5;
constexpr std::uint32_t kStart = 8;
constexpr std::uint32_t kDuration = 9;
}  // namespace options_field

constexpr std::uint64_t kOptionsVersion = 1;  // without it a server takes defaults of its own

/// Writes the fields of one message, one after another.
class WireWriter {
 public:
  void add(std::uint32_t field, std::uint64_t number) {
    add_tag(field, WireType::varint);
    add_varint(number);
  }
  void add(std::uint32_t field, std::string_view bytes) {
    add_tag(field, WireType::bytes);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_tag(std::uint32_t field, WireType type) {
    add_varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
  }
  void add_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>((number & 0x7f) | 0x80);
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

}  // namespace

std::string encode_profile_request(const ProfileRequest& request) {
  const auto milliseconds = static_cast<std::uint64_t>(request.duration.count());
  WireWriter options;
  options.add(options_field::kHostTracerLevel, request.tracers.host_level);
  options.add(options_field::kDeviceTracerLevel, request.tracers.device_level);
  options.add(options_field::kPythonTracerLevel, request.tracers.python_level);
  options.add(options_field::kVersion, kOptionsVersion);
  if (request.start_ns > 0) options.add(options_field::kStart, request.start_ns);
  options.add(options_field::kDuration, milliseconds);
  WireWriter message;
  message.add(request_field::kDuration, milliseconds);
  message.add(request_field::kOptions, options.bytes());
  message.add(request_field::kRepositoryRoot, request.repository_root);
  message.add(request_field::kSessionId, request.run);
  message.add(request_field::kHostName, request.host);
  message.add(request_field::kEmitXspace, 1);
  return in_grpc_frame(message.bytes());
}

}  // namespace doctor
