#pragma once

#include <memory>

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

}  // namespace doctor
