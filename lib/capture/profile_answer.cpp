#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/try.h"
#include "capture/grpc_frame.h"
#include "capture/profile_messages.h"
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

}  // namespace doctor
