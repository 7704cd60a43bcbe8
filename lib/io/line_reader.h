#pragma once

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

/// A line of a text file, without its end.
struct Line {
  std::string_view text;     ///< valid until the next line is read; cut off where the line is too long
  std::uint64_t number = 0;  ///< from 1
  bool has_end = true;       ///< false for a last line without an end: it may be truncated
  bool is_too_long = false;
};

/// Reads a source line by line. It holds one line at a time, and at most `longest` bytes of it.
class LineReader {
 public:
  static constexpr std::size_t kLongest = std::size_t{16} << 20;

  explicit LineReader(ByteSource& source, std::size_t longest = kLongest);

  /// The next line; nullopt at the end. A last line without an end is a line too. Errors: the source cannot be read.
  Result<std::optional<Line>> next();

 private:
  ByteSource& source_;
  std::size_t longest_;
  std::string buffer_;  ///< bytes that were read; those from begin_ on are not handed out yet
  std::size_t begin_ = 0;
  std::uint64_t number_ = 0;
  bool has_ended_ = false;
};

}  // namespace doctor
