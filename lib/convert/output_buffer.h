#pragma once

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

/// Text on its way to a sink, handed on in large pieces. After an error nothing more is kept.
class OutputBuffer {
 public:
  explicit OutputBuffer(ByteSink& sink) : sink_(sink) {}

  /// The text: append to it, and call end_piece() every now and then.
  std::string text;

  void end_piece() {
    constexpr std::size_t kEnough = std::size_t{64} << 10;
    if (text.size() >= kEnough) flush();
  }

  bool has_failed() const { return error_.has_value(); }

  /// Hands on the rest and finishes the sink. Errors: the first one that occurred.
  Result<void> finish() {
    flush();
    if (error_) return Unexpected(*error_);
    return sink_.finish();
  }

 private:
  void flush() {
    if (!error_) {
      if (Result<void> written = sink_.write(text); !written) error_ = std::move(written.error());
    }
    text.clear();
  }

  ByteSink& sink_;
  std::optional<Error> error_;
};

}  // namespace doctor
