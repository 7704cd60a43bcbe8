#include "capture/profile_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/try.h"
#include "capture/profiler_service_fields.h"
#include "text/numbers.h"
#include "trace/wire.h"

namespace doctor {
namespace {

Unexpected damaged() {
  return fail("the answer is not that of a profiler: its message is damaged", {});
}

/// Reads a varint; nullopt if more bytes are needed. Errors: it is longer than any number.
Result<std::optional<std::uint64_t>> begun_varint(std::string_view bytes, std::size_t& position) {
  const std::optional<std::uint64_t> number = read_varint(bytes, position);
  if (!number && bytes.size() - position >= WireStream::kLongestVarint) return damaged();
  return number;
}

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

Result<void> ProfileAnswer::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (value_left_ > 0) {
      const std::string_view part =
          bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(value_left_, bytes.size())));
      if (is_trace_) {
        RETURN_IF_ERROR(trace_.write(part));
        trace_bytes_ += part.size();
      }
      value_left_ -= part.size();
      left_ -= part.size();
      bytes.remove_prefix(part.size());
      continue;
    }
    if (has_prefix_ && left_ == 0) return damaged();  // a second message
    head_ += bytes.front();
    bytes.remove_prefix(1);
    RETURN_IF_ERROR(has_prefix_ ? take_field_head() : take_prefix());
  }
  return {};
}

Result<void> ProfileAnswer::take_prefix() {
  if (head_.size() < kGrpcPrefixSize) return {};
  const GrpcPrefix prefix = read_grpc_prefix(head_);
  head_.clear();
  has_prefix_ = true;
  left_ = prefix.length;
  if (prefix.is_compressed) return fail("the answer is compressed, which was not asked for", {});
  is_too_large_ = left_ > most_bytes_;
  if (!is_too_large_) return {};
  return fail(fmt::format("the trace has {} bytes; the limit is {} (--max-size)", left_, most_bytes_), {});
}

/// Reads the tag of a field, and its number or length, once they are there.
Result<void> ProfileAnswer::take_field_head() {
  --left_;
  std::size_t position = 0;
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> key, begun_varint(head_, position));
  if (!key) return {};
  const std::optional<WireTag> tag = to_tag(*key);
  if (!tag) return damaged();
  if (tag->type == WireType::fixed64 || tag->type == WireType::fixed32) {
    value_left_ = tag->type == WireType::fixed64 ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
  } else {
    ASSIGN_OR_RETURN(const std::optional<std::uint64_t> number, begun_varint(head_, position));
    if (!number) return {};
    if (tag->type == WireType::bytes) value_left_ = *number;
    if (tag->type == WireType::varint && tag->field == message_fields::ProfileResponse::empty_trace)
      is_empty_ = *number != 0;
  }
  head_.clear();
  is_trace_ = tag->field == message_fields::ProfileResponse::xspace && tag->type == WireType::bytes;
  if (is_trace_ && has_trace_) return damaged();  // both together would be one trace with everything twice
  has_trace_ = has_trace_ || is_trace_;
  return value_left_ <= left_ ? Result<void>() : damaged();
}

Result<void> ProfileAnswer::finish() const {
  if (!has_prefix_ && head_.empty()) return fail("the profiler answered nothing", {});
  if (!has_prefix_ || left_ > 0) return fail("the answer broke off", {});
  return head_.empty() ? Result<void>() : damaged();
}

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
