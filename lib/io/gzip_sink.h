#pragma once

#include <memory>

#include "io/byte_sink.h"

namespace doctor {

/// Compresses what is written into one gzip member and hands it to `target`, which must outlive it. finish() finishes
/// the target too. With ISA-L where there is one, else with zlib.
std::unique_ptr<ByteSink> gzip_sink(ByteSink& target);

/// The two ways, for tests. The first is null when built without ISA-L.
std::unique_ptr<ByteSink> isal_gzip_sink(ByteSink& target);
std::unique_ptr<ByteSink> zlib_gzip_sink(ByteSink& target);

}  // namespace doctor
