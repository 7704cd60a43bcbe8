#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// A stream of uncompressed bytes that can be read again from its start. It never holds the whole input in memory.
///
/// A damaged source (truncated gzip, bad checksum, read error) first hands out every byte that could be recovered. Only
/// then does read() fail, and keeps failing, so that what was readable is never lost.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills up to `capacity` bytes and returns how many; 0 only at the end.
  virtual Result<std::size_t> read(char* buffer, std::size_t capacity) = 0;

  /// Moves forward by up to `count` bytes without handing them out and returns how many were skipped;
  /// fewer only at the end. Seeks where the input can seek, else reads.
  virtual Result<std::uint64_t> skip(std::uint64_t count) = 0;

  /// Goes back to the first byte. Standard input can be rewound too: it is spooled to an unlinked temporary file.
  virtual Result<void> rewind() = 0;

  /// Name for messages: the path as the user gave it, or "standard input".
  virtual const std::string& name() const = 0;

  /// Size in bytes of the input as stored (compressed, if it is).
  virtual std::uint64_t stored_size() const = 0;

  /// The number of stored bytes consumed since the last rewind, for progress.
  virtual std::uint64_t stored_position() const = 0;

  virtual bool is_compressed() const = 0;

  /// The number of files that follow one another in this source; see join_sources().
  virtual std::size_t part_count() const { return 1; }
  /// The shift that makes the clock of the file with this byte that of the first file, in nanoseconds.
  virtual std::int64_t clock_shift_ns(std::uint64_t /*position*/) const { return 0; }
};

/// Opens a file, or standard input for "-". Compression is recognised by content, not by name: gzip is inflated, with
/// any number of members. Errors: missing, unreadable, a directory.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

/// Joins two sources, the second after the first. Formats whose documents may be concatenated (protobuf messages) are
/// read as one. `shift_ns` is added to the times of the second file.
std::unique_ptr<ByteSource> join_sources(std::unique_ptr<ByteSource> first, std::unique_ptr<ByteSource> second,
                                         std::int64_t shift_ns);

/// A source over bytes in memory, which must outlive it: for tests and fuzzing, without a disk.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name);

/// The whole content of a small file that lies beside a trace. Errors: it cannot be read, or has more than
/// `most_bytes`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t most_bytes);

/// A source whose clock is moved by `shift_ns`, onto that of another file that recorded the same process.
std::unique_ptr<ByteSource> moved_source(std::unique_ptr<ByteSource> source, std::int64_t shift_ns);

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
