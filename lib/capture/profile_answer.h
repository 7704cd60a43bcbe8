#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/byte_sink.h"

namespace doctor {

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
