#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/byte_sink.h"

namespace doctor {

/// Reads the answer of a profiler as it comes, in pieces of any size: one gRPC message with a `ProfileResponse`, whose
/// XSpace goes on to a sink. Keeps nothing of it in memory, however large it is.
class ProfileAnswer {
 public:
  /// The XSpace goes to `trace`; a message of more than `most_bytes` is refused before anything of it is stored.
  ProfileAnswer(ByteSink& trace, std::uint64_t most_bytes) : trace_(trace), most_bytes_(most_bytes) {}

  /// Takes the next bytes of the body. Errors: not such a message, too large, the sink takes no more. They have no
  /// place: the caller knows where the bytes come from.
  Result<void> take(std::string_view bytes);

  /// The body is at its end. Errors: the message is not.
  Result<void> finish() const;

  /// Whether the message announced more than may be taken.
  bool is_too_large() const { return is_too_large_; }

  /// Bytes of the XSpace so far.
  std::uint64_t trace_bytes() const { return trace_bytes_; }

  /// Whether the profiler says that nothing ran during the capture.
  bool is_empty() const { return is_empty_; }

 private:
  Result<void> take_prefix();
  Result<void> take_field_head();

  ByteSink& trace_;
  std::uint64_t most_bytes_;
  std::string head_;              ///< what came of a prefix, or of a field's tag and length
  bool has_prefix_ = false;       ///< of the message
  std::uint64_t left_ = 0;        ///< bytes of the message
  std::uint64_t value_left_ = 0;  ///< bytes of the field's value
  bool is_trace_ = false;         ///< whether the value is the XSpace
  bool has_trace_ = false;        ///< whether there was one
  bool is_empty_ = false;
  bool is_too_large_ = false;
  std::uint64_t trace_bytes_ = 0;
};

}  // namespace doctor
