#include "capture/grpc_frame.h"
#include "capture/profile_messages.h"
#include "capture/profiler_service_fields.h"
#include "trace/wire.h"

namespace doctor {
namespace {

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
  options.add(message_fields::ProfileOptions::host_tracer_level, request.tracers.host_level);
  options.add(message_fields::ProfileOptions::device_tracer_level, request.tracers.device_level);
  options.add(message_fields::ProfileOptions::python_tracer_level, request.tracers.python_level);
  options.add(message_fields::ProfileOptions::version, kOptionsVersion);
  if (request.start_ns > 0) options.add(message_fields::ProfileOptions::start_timestamp_ns, request.start_ns);
  options.add(message_fields::ProfileOptions::duration_ms, milliseconds);
  WireWriter message;
  message.add(message_fields::ProfileRequest::duration_ms, milliseconds);
  message.add(message_fields::ProfileRequest::opts, options.bytes());
  message.add(message_fields::ProfileRequest::repository_root, request.repository_root);
  message.add(message_fields::ProfileRequest::session_id, request.run);
  message.add(message_fields::ProfileRequest::host_name, request.host);
  message.add(message_fields::ProfileRequest::emit_xspace, 1);
  return in_grpc_frame(message.bytes());
}

}  // namespace doctor
