#pragma once

#include <memory>

#include "io/byte_sink.h"

namespace doctor {

/// Compresses what is written into one gzip member and hands it to `target`, which must outlive the sink. finish()
/// finishes the target too. Uses ISA-L if the build has it, else zlib.
std::unique_ptr<ByteSink> gzip_sink(ByteSink& target);

/// The two implementations, for tests. The first is null in a build without ISA-L.
std::unique_ptr<ByteSink> isal_gzip_sink(ByteSink& target);
std::unique_ptr<ByteSink> zlib_gzip_sink(ByteSink& target);

}  // namespace doctor
