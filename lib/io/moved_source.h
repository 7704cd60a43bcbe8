#pragma once

#include <cstdint>
#include <memory>

#include "io/byte_source.h"

namespace doctor {

/// A source whose clock is moved by `shift_ns`, onto that of another file that recorded the same process.
std::unique_ptr<ByteSource> moved_source(std::unique_ptr<ByteSource> source, std::int64_t shift_ns);

}  // namespace doctor
