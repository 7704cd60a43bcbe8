#pragma once

#include <string_view>

#include "base/result.h"

namespace doctor {

/// Takes a stream of bytes.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  /// Takes the next bytes. Errors: they cannot be stored; later bytes will not be either.
  virtual Result<void> write(std::string_view bytes) = 0;

  /// Called after the last byte: hands on what was held back. Nothing may follow.
  virtual Result<void> finish() = 0;
};

}  // namespace doctor
