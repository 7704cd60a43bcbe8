#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

namespace doctor {

/// Both libraries count in 32 bits: of a longer piece they get the beginning.
inline std::uint32_t clamped_length(std::size_t length) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(length, std::numeric_limits<std::uint32_t>::max()));
}

/// Inflates one raw deflate stream (RFC 1951) at a time: the common interface of ISA-L and zlib.
class Inflater {
 public:
  enum class State {
    more,     ///< needs more input, or more room for output
    end,      ///< the deflate stream is complete
    corrupt,  ///< the rest cannot be inflated; all certain output before it was handed out
  };

  struct Step {
    /// The number of input bytes consumed. At the end it may be negative, down to -kMostHeldBack but not before the
    /// start of this step's input: ISA-L reads ahead, and the bytes after the deflate stream belong to what follows.
    std::ptrdiff_t consumed = 0;
    std::size_t produced = 0;
    State state = State::more;
  };

  static constexpr std::size_t kMostHeldBack = 8;

  virtual ~Inflater() = default;

  /// Prepares for the next deflate stream.
  virtual void restart() = 0;

  /// Inflates from `input` into `output`. With an empty input it writes what it still holds.
  virtual Step inflate(std::string_view input, char* output, std::size_t capacity) = 0;

  /// The CRC-32 of the output since restart().
  virtual std::uint32_t checksum() const = 0;
};

std::unique_ptr<Inflater> zlib_inflater();

/// An inflater nearly three times as fast as zlib; null in a build without ISA-L. Before corrupt data it may return up
/// to 258 bytes less than zlib, before a truncation some bytes less.
std::unique_ptr<Inflater> isal_inflater();

}  // namespace doctor
