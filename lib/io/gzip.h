#pragma once

#include <memory>

#include "io/byte_sink.h"
#include "io/byte_source.h"
#include "io/inflater.h"

namespace doctor {

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
