#pragma once

#include <algorithm>
#include <limits>

#include "io/byte_source.h"

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

/// Inflates a gzip stream (RFC 1952) of any number of members. Zero bytes between and after members are padding. A
/// member with a wrong checksum or length does not hide those after it; the first error is reported at the end. The
/// stream ends with an error after 64 MiB of output that exceed 250 times its input, so that a small file is little
/// work.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> stored, std::unique_ptr<Inflater> inflater);

/// Returns a source as it is, or inflated if its first bytes are those of gzip.
Result<std::unique_ptr<ByteSource>> inflated_if_gzip(std::unique_ptr<ByteSource> stored);

/// Compresses what is written into one gzip member and hands it to `target`, which must outlive the sink. finish()
/// finishes the target too. Uses ISA-L if the build has it, else zlib.
std::unique_ptr<ByteSink> gzip_sink(ByteSink& target);

/// The two implementations, for tests. The first is null in a build without ISA-L.
std::unique_ptr<ByteSink> isal_gzip_sink(ByteSink& target);
std::unique_ptr<ByteSink> zlib_gzip_sink(ByteSink& target);

}  // namespace doctor
