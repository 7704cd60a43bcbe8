#pragma once

#include "base/result.h"
#include "io/byte_source.h"
#include "io/file_descriptor.h"

namespace doctor {

// Sources of the bytes as they are stored, before any decompression.

/// A regular file from the descriptor's current offset to its end. It reads by offset: the descriptor's own offset,
/// which other processes may share, does not move. It fails when the file becomes shorter than it was.
std::unique_ptr<ByteSource> file_source(FileDescriptor file, std::string name);

/// Anything else that can be read once: a pipe, a terminal, a socket. Bytes are kept while they are handed out, the
/// first megabyte in memory and the rest in an unlinked temporary file (in $TMPDIR, else /tmp). If they cannot be kept,
/// reading goes on and only rewind() fails. stored_size() is the number of bytes that have arrived so far.
std::unique_ptr<ByteSource> spooled_source(FileDescriptor input, std::string name);

/// A source over bytes in memory, which must stay there as long as the source.
std::unique_ptr<ByteSource> stored_bytes_source(std::string_view bytes, std::string name);

/// file_source() for a regular file, else spooled_source(). Errors: a directory, a closed descriptor.
Result<std::unique_ptr<ByteSource>> descriptor_source(FileDescriptor input, std::string name);

/// The skip() of a source that cannot seek. An error after some bytes is left for the next call to report.
Result<std::uint64_t> skip_by_reading(ByteSource& source, std::uint64_t count);

}  // namespace doctor
