#pragma once

#include <memory>

#include "io/byte_source.h"
#include "io/inflater.h"

namespace doctor {

/// Inflates a gzip stream (RFC 1952) of any number of members; zero bytes between and after them are padding.
/// A member with a wrong checksum or length does not hide those after it; the first fault is reported at the end.
/// Ends with a fault after 64 MiB that are more than 250 times what was stored, so that a small file is little work.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> stored, std::unique_ptr<Inflater> inflater);

/// Hands on a source as it is, or inflated if its first bytes are those of gzip.
Result<std::unique_ptr<ByteSource>> inflated_if_gzip(std::unique_ptr<ByteSource> stored);

}  // namespace doctor
