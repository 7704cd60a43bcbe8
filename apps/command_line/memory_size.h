#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doctor {

/// What parse_memory_size() accepts, for messages.
inline constexpr std::string_view kMemorySizes =
    "a size is a number of bytes, or a number with K, M, G or T (KiB, MiB, ...: powers of 1024) or KB, MB, GB or TB "
    "(powers of 1000), as in 500000000, 512M, 1.5GiB";

/// The bytes that "512M" or "1.5GB" stands for, at least 1. Nothing for any other text.
std::optional<std::uint64_t> parse_memory_size(std::string_view text);

}  // namespace doctor
