#pragma once

#include <cstdint>
#include <memory>

#include "io/byte_source.h"

namespace doctor {

/// A file whose clock is moved by `shift_ns`: that of another one, which was recorded of the same process.
std::unique_ptr<ByteSource> moved_source(std::unique_ptr<ByteSource> source, std::int64_t shift_ns);

}  // namespace doctor
