#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

namespace doctor {

/// Both libraries count 32 bits: of a longer piece they get the beginning.
inline std::uint32_t clamped_length(std::size_t length) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(length, std::numeric_limits<std::uint32_t>::max()));
}

/// Inflates one raw deflate stream (RFC 1951) at a time: what ISA-L and zlib have in common.
class Inflater {
 public:
  enum class State {
    more,     ///< wants more input, or more room for output
    end,      ///< the deflate stream is complete
    corrupt,  ///< the rest cannot be inflated; what was sure before it was handed out
  };

  struct Step {
    /// How far the input moved. At the end it may move back, by up to kMostHeldBack bytes and before the start of this
    /// step's input: ISA-L reads ahead, and those bytes belong to what follows the deflate stream.
    std::ptrdiff_t consumed = 0;
    std::size_t produced = 0;
    State state = State::more;
  };

  static constexpr std::size_t kMostHeldBack = 8;

  virtual ~Inflater() = default;

  /// Ready for the next deflate stream.
  virtual void restart() = 0;

  /// Inflates from `input` into `output`. With an empty input it hands out what it still holds.
  virtual Step inflate(std::string_view input, char* output, std::size_t capacity) = 0;

  /// CRC-32 of the output since restart().
  virtual std::uint32_t checksum() const = 0;
};

std::unique_ptr<Inflater> zlib_inflater();

/// Nearly three times as fast as zlib; null when built without ISA-L. Before corrupt data it may hand out up to 258
/// bytes less than zlib, before a cut some bytes less.
std::unique_ptr<Inflater> isal_inflater();

}  // namespace doctor
